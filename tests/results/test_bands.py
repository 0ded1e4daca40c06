"""One convention of bands, and one threshold for a leader beyond doubt: the page has those of the library."""

import re
from pathlib import Path

import sgais
from sgais.results.bands import BAND, SEPARATED

PAGE = Path(sgais.__file__).parent / "serve" / "page"


def constant(file, name):
    (value,) = re.findall(rf"^const {name} = ([0-9.]+);", (PAGE / file).read_text(), flags=re.MULTILINE)
    return float(value)


def test_the_page_draws_bands_as_figures_do():
    assert constant("curves.js", "BAND") == BAND == 3.0
    assert "three standard errors" in (PAGE / "index.html").read_text()


def test_the_page_calls_a_leader_separated_where_records_do():
    assert constant("tables.js", "CLEARLY") == SEPARATED
