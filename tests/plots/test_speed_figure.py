import numpy as np
import pytest

import sgais
from sgais import plots


def test_seconds_against_rows_on_logarithmic_axes():
    (axes,) = plots.speed({"sgais": [(1000, 2.0), (100, 1.0)], "nested": [(100, 5.0)]}).axes
    np.testing.assert_array_equal(axes.lines[0].get_xdata(), [100, 1000])
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), [1.0, 2.0])
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("rows", "seconds")
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["sgais", "nested"]
    assert axes.lines[0].get_marker() != axes.lines[1].get_marker()


@pytest.mark.parametrize("pairs", [[], [(0, 1.0)], [(100, -1.0)], [(100, float("nan"))]])
def test_pairs_are_above_zero(pairs):
    with pytest.raises(sgais.ConfigError, match="`table\\['ais'\\]` must hold pairs \\(rows, seconds\\) above 0"):
        plots.speed({"ais": pairs})


def test_an_empty_table_is_refused():
    with pytest.raises(sgais.ConfigError, match="`table` must hold at least one method"):
        plots.speed({})
