"""What the documents say must be so: their Python runs, their names exist, their links lead somewhere."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import sgais

ROOT = Path(__file__).parent.parent
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "how-to").glob("*.md")),
    *sorted((ROOT / "docs" / "paper").glob("*.md")),
]
SLOW = {"shifts.md", "index.md", "your-csv.md", "your-broker.md", "report-an-evidence.md"}  # mixtures, formulas
# Those that tests/tutorials runs.
TUTORIALS = [ROOT / "docs" / "gallery.md", *sorted((ROOT / "docs" / "tutorials").glob("*.md"))]


def python_blocks():
    for document in [document for document in DOCUMENTS if document not in TUTORIALS]:
        for number, block in enumerate(re.findall(r"```python\n(.*?)```", document.read_text(), flags=re.DOTALL)):
            marks = [pytest.mark.slow] * (document.name in SLOW)
            yield pytest.param(block, id=f"{document.name}-{number}", marks=marks)


@pytest.mark.parametrize("block", list(python_blocks()))
def test_python_in_the_documents_runs(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "<document>", "exec"), {"__name__": "document"})


def resolve(name):
    """The object of a dotted name, looking into modules first."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            found = getattr(found, part)
        return found
    raise AssertionError(f"no such name: {name}")


def test_every_name_of_the_paper_map_exists():
    names = re.findall(r"\| `(sgais[\w.]+)` \|", (ROOT / "docs" / "paper-map.md").read_text())
    assert len(names) > 15
    for name in names:
        resolve(name)


@pytest.mark.parametrize("document", [*DOCUMENTS, *TUTORIALS], ids=lambda document: str(document.relative_to(ROOT)))
def test_links_lead_somewhere(document):
    for target in re.findall(r"\]\((?!http)([^)#]+)", document.read_text()):
        assert (document.parent / target).exists(), target


def test_the_design_names_every_room_and_every_file_in_it():
    source = ROOT / "src" / "sgais"
    tree = re.search(r"```\nsrc/sgais/\n(.*?)```", (ROOT / "docs" / "design.md").read_text(), flags=re.DOTALL).group(1)
    rooms = dict(re.findall(r"^  ([\w/]+(?:\.py|/)) +(.*?)(?=^  \w|\Z)", tree, flags=re.MULTILINE | re.DOTALL))
    for name in rooms:
        assert (source / name).exists(), name
    for path in source.rglob("*.py"):
        room = str(path.parent.relative_to(source)) + "/"
        if path.stem in ("__init__", "__main__", "refresh"):
            continue
        named = path.name in rooms if room == "./" else re.search(rf"\b{path.stem}\b", rooms[room])
        assert named, path


def numbers(cells):
    return re.findall(r"\d[\d,.]*", " ".join(cells))


def table_lines(text):
    """The lines of its tables, cell by cell, without the headers."""
    lines = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line] for line in lines if numbers(line[1:])]


def is_within(some, all_of_them):
    """Whether these come among those, in this order."""
    rest = iter(all_of_them)
    return all(number in rest for number in some)


@pytest.mark.parametrize("page", ["README.md", "docs/method.md"])
def test_the_tables_of_results_are_those_that_scripts_have_printed(page):
    """Each line has numbers of one line of a result, in the same order, and the same subject."""
    results = [ROOT / "benchmarks" / "results" / name for name in ("calibration.md", "peers/README.md")]
    printed = [line for path in results for line in table_lines(path.read_text())]
    text = (ROOT / page).read_text()
    shown = table_lines(text[text.index("<!-- calibration -->") :])
    assert len(shown) > 8
    for line in shown:
        candidates = [numbers(found[1:]) for found in printed if line[0].startswith(found[0].partition(",")[0])]
        assert any(is_within(numbers(line[1:]), found) for found in candidates), line


def bash_blocks():
    command_line = ROOT / "docs" / "command-line.md"
    settings = re.search(r"```toml\n(.*?)```", command_line.read_text(), flags=re.DOTALL).group(1)
    pages = ("index.md", "get-started.md", "how-to/your-csv.md", "how-to/resume.md")
    for document in (command_line, ROOT / "README.md", *(ROOT / "docs" / page for page in pages)):
        for number, block in enumerate(re.findall(r"```bash\n(.*?)```", document.read_text(), flags=re.DOTALL)):
            yield pytest.param(block, settings, id=f"{document.name}-{number}")


@pytest.mark.slow
@pytest.mark.parametrize(("block", "settings"), list(bash_blocks()))
def test_commands_in_the_documents_run(block, settings, tmp_path):
    rows = sgais.simulate.linear_regression(300, dim=2).data
    people = {"height": rows["x"][:, 0], "age": rows["x"][:, 1], "weight": rows["y"]}
    pd.DataFrame(people).to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "run.toml").write_text(settings)
    start = f'set -e\nsgais() {{ "{sys.executable}" -m sgais "$@"; }}\n'
    result = subprocess.run(["bash", "-c", start + block], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stderr
