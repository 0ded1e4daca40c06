"""Where compiled programs are kept, in fresh processes."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

RUN = """
import jax, sgais
print(jax.config.jax_compilation_cache_dir)
jax.jit(lambda key: jax.random.gamma(key, 0.5, (3,)))(jax.random.key(0))  # takes long enough to be worth a file
"""


def run(**environment):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("JAX", "SGAIS", "XDG"))}
    finished = subprocess.run(
        [sys.executable, "-W", "error", "-c", RUN], capture_output=True, text=True, env=clean | environment
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout.strip()


@pytest.mark.parametrize("variable", ["SGAIS_COMPILATION_CACHE", "XDG_CACHE_HOME", "HOME"])
def test_programs_are_kept(tmp_path, variable):
    folder = run(**{variable: str(tmp_path)})
    assert folder.startswith(str(tmp_path))
    assert list(Path(folder).iterdir())


def test_it_can_be_switched_off(tmp_path):
    assert run(SGAIS_COMPILATION_CACHE="off", HOME=str(tmp_path)) == "None"
    assert not (tmp_path / ".cache" / "sgais").exists()


def test_a_choice_of_the_user_is_respected(tmp_path):
    assert run(JAX_COMPILATION_CACHE_DIR=str(tmp_path / "own"), HOME=str(tmp_path)) == str(tmp_path / "own")


def test_no_place_is_no_problem(tmp_path):
    (tmp_path / "file").write_text("")
    assert run(SGAIS_COMPILATION_CACHE=str(tmp_path / "file")) == "None"


COMPILE = """
import sgais
from pathlib import Path
from sgais.compute.prior_draws import sample_prior

def megabytes(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(name))

before = megabytes("VmRSS")
sample_prior(sgais.models.GaussianMixture(components=5, dim=2), 1, 0, 0)
print(megabytes("VmHWM") - before, megabytes("VmRSS") - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries need not be told")
def test_what_the_compiler_has_freed_is_given_back():
    """The sampler of a mixture's prior takes some two hundred megabytes to compile, and a quarter of it to keep."""
    environment = os.environ | {"SGAIS_COMPILATION_CACHE": "off"}
    finished = subprocess.run([sys.executable, "-c", COMPILE], capture_output=True, text=True, env=environment)
    peak, kept = (float(number) for number in finished.stdout.split())
    assert kept < 0.6 * peak
