"""Tutorials are notebooks too, and what a notebook shows of a run."""

import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import sgais

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "site"))
from extensions.notebooks import notebook, write  # noqa: E402

TUTORIALS = sorted(path for path in (ROOT / "docs" / "tutorials").glob("*.md") if path.stem != "README")


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_notebook_has_all_of_its_tutorial(path, tmp_path):
    text = path.read_text()
    content = nbformat.from_dict(notebook(text))
    nbformat.validate(content)
    code = [cell for cell in content.cells if cell.cell_type == "code"]
    assert len(code) == text.count("```python\n") + text.count("```bash\n")
    assert sum(bool(cell.outputs) for cell in code) == text.count("```\n\n```text\n")
    assert ".md)" not in "".join(cell.source for cell in content.cells if cell.cell_type == "markdown")


def test_the_site_has_them_for_download(tmp_path):
    names = [path.name for path in write(ROOT / "docs" / "tutorials", tmp_path)]
    assert names == [f"{path.stem}.ipynb" for path in TUTORIALS]


SEEN = """
import sgais
model = sgais.models.LinearRegression(dim=2)
data = sgais.simulate.linear_regression(400, dim=2).data
comparison = sgais.Comparison({"one": sgais.models.LinearRegression(2, features=(0,)), "both": model})
live = sgais.notebook.Live(comparison, total_rows=400, every_seconds=0.0)
record = comparison.run(sgais.stream(data, chunk_size=200), after_chunk=live)
"""
ESTIMATED = 'sgais.estimate(model, data, method="nested", progress=True)'


def shown(cell):
    """But for what libraries say on standard error."""
    return [output for output in cell.outputs if output.output_type != "stream"]


@pytest.mark.slow
def test_a_notebook_shows_a_run_and_a_bar():
    """In a real kernel: drawn once, then updated in its place, ending with all rows; results show themselves."""
    cells = [nbformat.v4.new_code_cell(source) for source in (SEEN, ESTIMATED, "comparison")]
    content = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(content, timeout=600, kernel_name="python3").execute()
    (view,) = shown(content.cells[0])
    page = view["data"]["text/html"]
    assert "400 of 400 rows" in page
    assert "<svg" in page
    assert "both" in page
    bar, result = shown(content.cells[1])
    assert "value='1.0000'" in bar["data"]["text/html"]
    assert "log Z = " in result["data"]["text/html"]
    assert "<table>" in shown(content.cells[2])[0]["data"]["text/html"]


def test_outside_of_a_notebook_nothing_is_drawn(capsys):
    evidence = sgais.OnlineEvidence(sgais.models.LinearRegression(dim=2))
    live = sgais.notebook.Live(evidence)
    live.show()
    assert "0 rows" in live.page()
    assert capsys.readouterr().out == ""


def test_only_runs_are_watched():
    with pytest.raises(sgais.ConfigError, match="`follower` must be a Comparison"):
        sgais.notebook.Live(sgais.models.LinearRegression(dim=2))


def test_results_show_themselves():
    data = sgais.simulate.linear_regression(200, dim=2).data
    model = sgais.models.LinearRegression(dim=2)
    result = sgais.estimate(model, data, method="laplace")
    verdict = sgais.Verdict({"laplace": result})
    for shown in (result, verdict, sgais.OnlineEvidence(model), sgais.ChangePoints(model)):
        assert "log Z" in shown._repr_html_()
    assert "&lt;" in sgais.Verdict({"<b>": result})._repr_html_(), "names are no HTML"
