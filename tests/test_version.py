"""One place says which version this is: `src/sgais/__init__.py`; all others ask it."""

import importlib.metadata
import subprocess
import sys
import tomllib
from pathlib import Path

import sgais

ROOT = Path(__file__).parent.parent


def test_the_installed_package_and_the_command_say_the_same_version():
    assert importlib.metadata.version("sgais") == sgais.__version__
    command = "from sgais.cli import app; app(['--version'])"
    printed = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True).stdout
    assert printed == f"sgais {sgais.__version__}\n"


def test_the_project_file_and_the_citation_do_not_repeat_it():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert "version" not in project
    assert "version:" not in (ROOT / "CITATION.cff").read_text().replace("cff-version:", "")


def test_every_python_that_is_promised_is_tried_by_the_hosted_tests():
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["classifiers"]
    promised = [line.split()[-1] for line in classifiers if "Python :: 3." in line]
    assert str(promised).replace("'", '"') in (ROOT / ".github" / "workflows" / "tests.yml").read_text()
