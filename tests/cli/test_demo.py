"""The real command in a real process."""

import subprocess
import sys
from pathlib import Path

import pandas as pd

SGAIS = Path(sys.executable).parent / "sgais"


def run(*arguments, cwd):
    return subprocess.run([SGAIS, *arguments], cwd=cwd, capture_output=True, text=True, timeout=300)


def test_the_demo_tells_the_exact_value_beside_its_own(tmp_path):
    result = run("demo", "--rows", "4000", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "exact" in result.stdout
    assert "4,000" in result.stdout
    frame = pd.read_csv(tmp_path / "demo-output" / "evidence.csv")
    assert list(frame.num_rows) == list(range(500, 4001, 500))
    assert (abs(frame.log_evidence - frame.exact) < 4 * frame.standard_error).all()
    assert (tmp_path / "demo-output" / "evidence.png").read_bytes().startswith(b"\x89PNG")


def test_wrong_usage_exits_with_2(tmp_path):
    result = run("demo", "--rows", "0", cwd=tmp_path)
    assert result.returncode == 2
    assert "--rows" in result.stderr
