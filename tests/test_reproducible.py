"""In fresh processes: same seed, same bits, whether programs are compiled or found on disk; settings untouched."""

import json
import os
import subprocess
import sys

import pytest

SCRIPT = """
import json
import jax
before = dict(jax.config.values)
import numpy as np
import sgais
data = sgais.simulate.linear_regression(1500, seed=1).data
evidence = sgais.OnlineEvidence(sgais.models.LinearRegression(dim=5), seed=7)
for chunk in sgais.stream(data, 500):
    evidence.update(chunk)
published = sgais.OnlineEvidence(sgais.models.LinearRegression(dim=5), sgais.Config.paper())
published.update(data)
print(json.dumps({
    "linear": evidence.log_evidence.hex(),
    "published": published.log_evidence.hex(),
    "particles": evidence.particles["weights"].tobytes().hex(),
    "dtype": str(evidence.particles["weights"].dtype),
    "changed": [name for name, value in jax.config.values.items() if value != before.get(name)],
    "exact": sgais.models.LinearRegression(dim=5).log_evidence(data),
}))
"""


def run(x64, programs):
    environment = os.environ | {"JAX_ENABLE_X64": "1" if x64 else "0", "SGAIS_COMPILATION_CACHE": str(programs)}
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT], env=environment, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize(("x64", "dtype"), [(False, "float32"), pytest.param(True, "float64", marks=pytest.mark.slow)])
def test_fresh_processes_agree_bit_for_bit(x64, dtype, tmp_path):
    first, second = run(x64, tmp_path), run(x64, tmp_path)
    assert first == second
    assert first["dtype"] == dtype
    assert all("cache" in name for name in first["changed"]), "only where compiled programs are kept"
    assert float.fromhex(first["linear"]) == pytest.approx(first["exact"], abs=2)
