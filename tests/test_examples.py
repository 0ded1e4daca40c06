"""Every example is run, as a user would run it. All but one stream the same rows: they must print the same number."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))
# One process for all, and programs compiled once: what is tested is the streams, not the compiler.
RUN_ALL = """
import runpy, sys
for path in sys.argv[1:]:
    print("##", path, flush=True)
    sys.argv = [path]
    runpy.run_path(path, run_name="__main__")
"""


def test_examples_stream_the_same_rows_from_every_source(tmp_path):
    finished = subprocess.run(
        [sys.executable, "-W", "error::ResourceWarning", "-c", RUN_ALL, *EXAMPLES],
        capture_output=True,
        text=True,
    )
    assert finished.returncode == 0, finished.stderr
    outputs = dict(re.findall(r"## .*/(\w+)\.py\n((?:(?!##).*\n)*)", finished.stdout))
    assert set(outputs) == {path.stem for path in EXAMPLES}
    evidences = {name: float(re.search(r"^log Z = (\S+)", text, re.MULTILINE)[1]) for name, text in outputs.items()}
    exact = float(re.search("exact: (.*)", outputs["lagged_series"])[1])
    assert evidences.pop("lagged_series") == pytest.approx(exact, abs=1.0)
    assert set(evidences.values()) == {evidences["arrays"]}
    assert "1 bad row" in outputs["csv_file"]
