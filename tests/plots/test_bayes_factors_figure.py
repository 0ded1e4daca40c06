from itertools import pairwise

import numpy as np
import pytest

import sgais
from sgais import plots
from sgais.results.bands import BAND


def by_label(axes):
    return {line.get_label(): line for line in axes.lines}


def test_each_model_is_compared_with_the_leader_at_the_end(make_records):
    curves = {"low": make_records(-1.5), "high": make_records(-1.25), "middle": make_records(-1.375)}
    (axes,) = plots.bayes_factors(curves).axes
    lines = by_label(axes)
    rows = np.array([500, 1000, 5000, 20_000])
    np.testing.assert_allclose(lines["low"].get_ydata(), -0.25 * rows)
    np.testing.assert_allclose(lines["middle"].get_ydata(), -0.125 * rows)
    np.testing.assert_array_equal(lines["high"].get_ydata(), [0, 0])
    assert axes.get_yscale() == "symlog"
    assert axes.get_ylabel() == "log Bayes factor (nats)"


def test_the_band_joins_both_errors(make_records):
    curves = {"one": make_records(-1.5, standard_error=3.0), "two": make_records(-1.25, standard_error=4.0)}
    (axes,) = plots.bayes_factors(curves).axes
    vertices = axes.collections[0].get_paths()[0].vertices
    assert vertices[:, 1].max() == pytest.approx(-0.25 * 500 + BAND * 5.0)
    curves["two"] = make_records(-1.25, standard_error=np.nan)
    assert len(plots.bayes_factors(curves).axes[0].collections) == 0


def test_the_reference_can_be_named(make_records):
    curves = {"one": make_records(-1.5), "two": make_records(-1.25)}
    (axes,) = plots.bayes_factors(curves, against="one").axes
    assert by_label(axes)["two"].get_ydata()[0] == pytest.approx(125.0)
    with pytest.raises(sgais.ConfigError, match="`against` must be one of \\['one', 'two'\\], got 'three'"):
        plots.bayes_factors(curves, against="three")


def test_only_rows_that_both_have_seen_are_compared(make_records):
    later = make_records(-1.25)[1:]
    (axes,) = plots.bayes_factors({"one": make_records(-1.5), "later": later}).axes
    np.testing.assert_array_equal(by_label(axes)["one"].get_xdata(), [1000, 5000, 20_000])
    elsewhere = make_records(-1.25, rows=(1, 2, 3, 4))
    with pytest.raises(sgais.ConfigError, match="`curves` must have numbers of rows in common"):
        plots.bayes_factors({"one": make_records(-1.5), "elsewhere": elsewhere})


def test_a_model_that_failed_does_not_lead(comparison_records, make_records):
    (axes,) = plots.bayes_factors(comparison_records).axes
    lines = by_label(axes)
    np.testing.assert_array_equal(lines["c"].get_ydata(), [0, 0])
    np.testing.assert_array_equal(np.isfinite(lines["a"].get_ydata()), [False, True, True, False])
    np.testing.assert_allclose(lines["b"].get_ydata()[1:], np.log([0.3 / 0.2, 0.3 / 0.5, 0.1 / 0.9]), rtol=1e-6)
    (axes,) = plots.bayes_factors({"failed": make_records(-1.0)[:2], "went on": make_records(-1.5)}).axes
    assert "failed" in by_label(axes)
    np.testing.assert_array_equal(by_label(axes)["went on"].get_ydata(), [0, 0])


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
def test_tick_labels_do_not_touch(make_records, scale):
    curves = {"one": make_records(-1.5 * scale), "two": make_records(-1.25 * scale), "three": make_records(-scale)}
    figure = plots.bayes_factors(curves, against="two")
    figure.draw_without_rendering()
    shown = [label.get_window_extent() for label in figure.axes[0].get_yticklabels() if label.get_text()]
    assert len(shown) >= 3
    assert all(lower.y1 < upper.y0 + 2 for lower, upper in pairwise(shown))


def test_one_model_is_refused(make_records):
    with pytest.raises(sgais.ConfigError, match="`curves` must hold at least two models, got \\['one'\\]"):
        plots.bayes_factors({"one": make_records()})
