"""The page of a run holds all it shows."""

import re

import matplotlib.figure

from sgais.cli.output.report import Report
from sgais.cli.session.folder import RunFolder


def page_of(tmp_path, names):
    folder = RunFolder(tmp_path)
    figures = []
    for name in names:
        figure = matplotlib.figure.Figure()
        figure.add_subplot().plot([1, 2], [3, 5], label=name)
        figures.append(folder.keep(figure, name))
    report = Report("<b>", ["One & all."], ["model", "log Z"], [["a|b", "-1"]], [], figures)
    report.write(folder.path)
    return (tmp_path / "report.html").read_text()


def test_figures_are_drawings_whose_parts_do_not_meet(tmp_path):
    page = page_of(tmp_path, ["evidence", "annealing"])
    assert page.count("<svg ") == page.count("<figure>") == 2
    names = re.findall(r'\bid="([^"]+)"', page)
    assert len(names) == len(set(names)) > 10
    referred = {*re.findall(r'href="#([^"]+)"', page), *re.findall(r"url\(#([^)]+)\)", page)}
    assert referred <= set(names), "every part that is used is there"
    assert "&lt;b&gt;" in page


def test_a_picture_without_a_drawing_is_shown_as_it_is(tmp_path):
    """As in folders that older versions have written."""
    page_of(tmp_path, ["evidence"])
    (tmp_path / "evidence.svg").unlink()
    Report("run", [], ["model"], [], [], ["evidence.png"]).write(tmp_path)
    assert "data:image/png;base64," in (tmp_path / "report.html").read_text()
