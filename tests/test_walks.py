"""The walks that docs/design.md draws, and the places that the glossary names, are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "sgais"


def exists(name):
    """A path of the source, or the end of one."""
    return any(str(path).endswith("/" + name) for path in SOURCE.rglob(Path(name).name))


def files_in(text):
    return set(re.findall(r"[\w/]+\.(?:py|js)\b", text))


def walks():
    design = (ROOT / "docs" / "design.md").read_text()
    return re.findall(r"```text\n(.*?)```", design, flags=re.DOTALL)


def test_both_ways_are_drawn():
    chunk, post = walks()
    assert {"streams/stream.py", "run_loop.py", "results/record.py", "plots/evidence.py"} <= files_in(chunk)
    assert {"serve/intake/intake.py", "serve/worker.py", "monitoring/snapshot.py"} <= files_in(post)


@pytest.mark.parametrize("name", sorted(files_in("".join(walks()))))
def test_every_file_on_the_way_is_there(name):
    assert exists(name), name


def test_every_place_in_the_glossary_is_there():
    places = re.findall(r"\| `([\w/.]+)` \|$", (ROOT / "docs" / "glossary.md").read_text(), flags=re.MULTILINE)
    assert len(places) > 40
    for place in places:
        assert (SOURCE / place).exists(), place
