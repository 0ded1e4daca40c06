"""Figures and report come from the tables alone, and come out the same every time."""

import io
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import synthetic_tables
from matplotlib.image import imread

from experiments.paper import report, tables
from experiments.paper.__main__ import REPORT, RESULTS, main
from experiments.paper.settings import DEFAULT, FULL

FIGURES = {
    *(f"figure{number}" for number in range(1, 9)),
    *("figure5-default", "appendix-c-particles", "appendix-c-steps", "appendix-c-mini-batch"),
    *("appendix-a", "appendix-a-default"),
}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A report on tables that agree with the paper in everything."""
    results, folder = tmp_path_factory.mktemp("tables"), tmp_path_factory.mktemp("report")
    both = [synthetic_tables.shift(), synthetic_tables.shift(DEFAULT)]
    tables.write(
        results, "accuracy_and_speed", synthetic_tables.accuracy_and_speed(nested_factor=2000.0, ais_factor=9000.0)
    )
    tables.write(results, "data_sets", synthetic_tables.data_sets())
    tables.write(results, "shift", pd.concat(both))
    tables.write(results, "sensitivity", synthetic_tables.sensitivity())
    tables.write(results, "appendix_a", synthetic_tables.appendix_a())
    report.write(results, folder)
    return results, folder


def test_every_figure_of_the_paper_is_drawn_and_shown(written):
    _, folder = written
    assert {path.stem for path in folder.glob("*.png")} == FIGURES
    shown = re.findall(r"!\[.+\]\((.+)\.png\)", (folder / "README.md").read_text())
    assert set(shown) == FIGURES
    assert len(shown) == len(FIGURES)


def test_redrawing_gives_the_same_bytes(written, tmp_path):
    results, folder = written
    assert main(["--redraw", "--results", str(results), "--report", str(tmp_path)]) == 0
    for path in folder.iterdir():
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name


def test_runs_can_be_reported_before_any_of_them_is_timed(tmp_path):
    """As after `--untimed` on a busy machine."""
    for name in ("accuracy_and_speed", "sensitivity"):
        table = getattr(synthetic_tables, name)().assign(seconds=np.nan)
        tables.write(tmp_path, name, table[table["method"] != "ais"] if "method" in table else table)
    report.write(tmp_path, tmp_path / "report")
    assert (tmp_path / "report" / "figure2.png").exists()


def test_the_page_holds_everything_it_shows(written):
    _, folder = written
    page = (folder / "report.html").read_text()
    assert len(re.findall(r"src='data:image/png;base64,", page)) == len(FIGURES)
    assert not re.findall(r"(?:src|href)=['\"](?!data:)", page)


def test_verdicts_come_from_the_tables(written, tmp_path):
    _, folder = written
    text = (folder / "README.md").read_text()
    assert ", differs: 0, not measured: 0." in text
    assert "| differs |" not in text
    tables.write(tmp_path, "accuracy_and_speed", synthetic_tables.accuracy_and_speed(relative_error=0.05))
    report.write(tmp_path, tmp_path / "report")
    other = (tmp_path / "report" / "README.md").read_text()
    assert re.search(r"final error, linear.*\| differs \|", other)
    assert "Not measured yet." in other


def test_the_axes_are_those_of_the_paper(written):
    results, _ = written
    found = {name: tables.read(results, name) for name in report.TABLES}
    for name, figure in report.figures(found, FULL).items():
        assert all(panel.get_xlabel() or panel.get_title() for panel in figure.axes), name
        if name.startswith("appendix-a") or name == "figure1":
            continue
        assert {panel.get_xscale() for panel in figure.axes} == {"log"}
        assert figure.axes[0].get_ylabel() == "log Z per row (nats)"
        assert all(panel.get_ylabel() for panel in figure.axes)
        assert len(figure.legends) == 1


def test_tables_survive_being_written_and_read(tmp_path):
    table = synthetic_tables.sensitivity()
    tables.write(tmp_path, "sensitivity", table)
    back = tables.read(tmp_path, "sensitivity")
    assert back["parameter"].tolist() == table["parameter"].tolist()
    np.testing.assert_allclose(back["log_evidence"], table["log_evidence"])
    assert tables.read(tmp_path, "no such").empty


def committed_figures():
    return sorted(REPORT.glob("*.png"))


@pytest.fixture(scope="module")
def redrawn():
    found = {name: tables.read(RESULTS, name) for name in report.TABLES}
    return report.figures(found, FULL)


@pytest.mark.parametrize("path", committed_figures(), ids=lambda path: path.stem)
def test_the_committed_tables_give_the_committed_figures(path, redrawn):
    """To a few pixels: other versions of Matplotlib place letters a little differently."""
    drawn = io.BytesIO()
    redrawn[path.stem].savefig(drawn, format="png")
    drawn.seek(0)
    ours, theirs = imread(drawn), imread(path)
    assert ours.shape == theirs.shape
    assert np.mean(np.abs(ours - theirs)) < 0.002


def test_the_committed_report_is_what_the_committed_tables_say():
    found = {name: tables.read(RESULTS, name) for name in report.TABLES}
    drawn = {path.stem for path in committed_figures()}
    text = report.markdown(report.compose(found, tables.read_origin(RESULTS), drawn))
    assert Path(REPORT / "README.md").read_text() == text
