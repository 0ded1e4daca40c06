"""From runs to the table, the page and the figures."""

from peer_lines import LIMIT, ours, runs, too_slow

from benchmarks.peers import drawing, lines
from benchmarks.peers.report import report
from benchmarks.peers.settings import FULL

LINES = [
    *ours("linear", 1_000_000),
    *runs("linear", "dynesty", 1_000_000, [500.0]),
    *ours("mixture", 100_000),
    *ours("mixture", 1_000_000),
    *too_slow("mixture", "dynesty", 100_000),
]


def test_a_table_is_read_as_it_was_written(tmp_path):
    lines.save(tmp_path / "peers.csv", LINES)
    found = lines.load(tmp_path / "peers.csv")
    assert [str(line) for line in found] == [str(line) for line in LINES], "NaN is not equal to itself, its text is"


def test_the_page_says_what_holds_and_what_does_not():
    page = report(LINES, FULL, "make bench FULL=1", [])
    assert "| linear | 1,000,000 | 2.00 | 0.04 | dynesty | 1,000,000 | 500.0 | 250.0 | 100 | yes |" in page
    assert (
        "| mixture | 100,000 | 2.00 | 0.04 | none in time | 100,000 | at least 600.0 | at least 300.0 | 50 | yes |"
        in page
    )
    assert "| logistic | 100,000 | not measured | | | 100,000 | | | 100 | no |" in page
    assert "| linear | 10,000 | not measured | | | 10,000 | | | | |" in page, "where nothing was asked, nothing holds"
    assert "| mixture | 100,000 | dynesty | 1 | out of time (600 s) |" in page
    assert "| mixture | 1,000,000 | dynesty | 1 | not begun: out of time at 100,000 rows |" in page


def test_every_problem_has_its_figures(tmp_path):
    drawn = drawing.draw(lines.cells(LINES), tmp_path, LIMIT)
    assert [path.name for path in drawn] == [
        "linear-error.png",
        "linear-rows.png",
        "mixture-error.png",
        "mixture-rows.png",
    ]
    assert all(path.stat().st_size > 1000 for path in drawn)
    panel = drawing.seconds_against_rows(lines.cells(LINES[:4]), LIMIT).axes[0]
    assert [curve.get_label() for curve in panel.lines[:2]] == ["sgais", "dynesty"]
    assert list(panel.lines[0].get_ydata()) == [2.0], "the median"
