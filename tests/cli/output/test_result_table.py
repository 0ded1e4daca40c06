"""The table of a result: names stay whole."""

import io

import pytest
from rich.console import Console

from sgais.cli.output.result import print_rows

HEADER = ["model", "log Z", "per row", "log Bayes factor", "probability"]
NAME = "weight ~ height + age"
LONG = "invest ~ value * capital + poly(year, 3) + (1 | firm)"


def printed(width, is_terminal, name):
    console = Console(file=io.StringIO(), width=width, force_terminal=is_terminal, color_system=None)
    print_rows(console, HEADER, [[name, "-3,501.78 ± 0.01", "-3.501782", "0.0", "1.000"]])
    return console.file.getvalue()


@pytest.mark.parametrize("name", [NAME, LONG])
def test_a_file_has_no_width(name):
    text = printed(80, False, name)
    assert name in text
    assert "per row" in text


def test_a_narrow_terminal_has_whole_names_and_no_log_evidence_per_row():
    text = printed(80, True, NAME)
    assert NAME in text
    assert "per row" not in text
    assert max(map(len, text.splitlines())) <= 80


def test_a_wide_terminal_has_all():
    assert "per row" in printed(120, True, NAME)


def test_a_name_that_fits_nowhere_is_folded_not_cut():
    text = printed(80, True, LONG)
    cells = [line[:25].strip() for line in text.splitlines()]
    assert all(part in text for part in ("invest", "firm"))
    assert max(map(len, text.splitlines())) <= 80
    assert len(cells) > 4
