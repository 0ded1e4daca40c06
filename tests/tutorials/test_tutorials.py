"""Every tutorial runs as it stands, and prints what it shows; the gallery makes the figures that it shows."""

import re
from pathlib import Path

import pytest
from agreement import disagreement
from tutorial import run

TUTORIALS = Path(__file__).parents[2] / "docs" / "tutorials"
SLOW = {"choosing-models", "trusting-the-number", "your-own-model"}  # they compile several models, or methods


def tutorials():
    for path in sorted(TUTORIALS.glob("*.md")):
        yield pytest.param(path, id=path.stem, marks=[pytest.mark.slow] * (path.stem in SLOW))


@pytest.mark.slow
def test_the_gallery_makes_its_figures(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    gallery = TUTORIALS.parent / "gallery.md"
    for _ in run(gallery):
        pass
    shown = re.findall(r"\(images/gallery/(\w+\.svg)\)", gallery.read_text())
    assert sorted(shown) == sorted(path.name for path in tmp_path.glob("*.svg"))
    assert sorted(shown) == sorted(path.name for path in (TUTORIALS.parent / "images" / "gallery").iterdir())


@pytest.mark.parametrize("path", list(tutorials()))
def test_a_tutorial_prints_what_it_shows(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for block, printed in run(path):
        assert not (where := disagreement(block.shown, printed)), f"{path.name}, line {block.line}: {where}"
