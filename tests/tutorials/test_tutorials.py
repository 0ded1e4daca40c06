"""Every tutorial runs as it stands, and prints what it shows."""

from pathlib import Path

import pytest
from agreement import disagreement
from tutorial import run

TUTORIALS = Path(__file__).parents[2] / "docs" / "tutorials"
SLOW = {"choosing-models", "trusting-the-number", "your-own-model"}  # they compile several models, or methods


def tutorials():
    for path in sorted(TUTORIALS.glob("*.md")):
        yield pytest.param(path, id=path.stem, marks=[pytest.mark.slow] * (path.stem in SLOW))


@pytest.mark.parametrize("path", list(tutorials()))
def test_a_tutorial_prints_what_it_shows(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for block, printed in run(path):
        assert not (where := disagreement(block.shown, printed)), f"{path.name}, line {block.line}: {where}"
