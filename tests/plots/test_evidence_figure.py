import numpy as np
import pytest
from matplotlib.figure import Figure

import sgais
from sgais import plots, simulate
from sgais.models import LinearRegression
from sgais.results.bands import BAND


def labels(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_the_curve_is_log_evidence_per_row():
    records = sgais.estimate(
        LinearRegression(dim=5), simulate.linear_regression(1500).data, config=sgais.Config.paper()
    ).records
    (axes,) = plots.evidence(records).axes
    rows, values = axes.lines[0].get_data()
    np.testing.assert_array_equal(rows, [500, 1000, 1500])
    np.testing.assert_allclose(values, [record.log_evidence / record.num_rows for record in records])
    assert axes.get_xscale() == "log"
    assert axes.get_xlabel() == "rows seen"
    assert axes.get_ylabel() == "log Z per row (nats)"
    assert axes.get_legend() is None
    assert len(axes.collections) == 0  # paper mode has no standard error, so there is no band


def test_the_band_is_that_of_log_evidence_per_row(make_records):
    (axes,) = plots.evidence(make_records(per_row=-1.5, standard_error=2.0)).axes
    vertices = axes.collections[0].get_paths()[0].vertices
    at_first = vertices[vertices[:, 0] == 500, 1]
    assert at_first.max() == pytest.approx(-1.5 + BAND * 2.0 / 500)
    assert at_first.min() == pytest.approx(-1.5 - BAND * 2.0 / 500)


def test_the_exact_curve_adds_the_error_in_nats(make_records):
    records = make_records(standard_error=0.25)
    curve, error = plots.evidence(records, exact=[record.log_evidence + 3.0 for record in records]).axes
    assert labels(curve) == ["estimate", "exact"]
    np.testing.assert_allclose(error.lines[0].get_ydata(), -3.0)
    top = error.collections[0].get_paths()[0].vertices[:, 1].max()
    assert top == pytest.approx(-3.0 + BAND * 0.25)


def test_several_models_differ_in_colour_and_in_dashes(make_records):
    (axes,) = plots.evidence({"one": make_records(-1.5), "two": make_records(-1.6), "three": make_records(-1.7)}).axes
    assert labels(axes) == ["one", "two", "three"]
    assert [line.get_ydata()[0] for line in axes.lines] == pytest.approx([-1.5, -1.6, -1.7])
    assert len({line.get_color() for line in axes.lines}) == 3
    assert len({line.get_linestyle() for line in axes.lines}) == 3


def test_exact_values_of_several_models_are_named(make_records):
    models = {"one": make_records(-1.5), "two": make_records(-1.6)}
    truth = [record.log_evidence - 1.0 for record in models["two"]]
    curve, error = plots.evidence(models, exact={"two": truth}).axes
    assert labels(curve) == ["one", "two", "two, exact"]
    np.testing.assert_allclose(error.lines[0].get_ydata(), 1.0)
    assert error.lines[0].get_color() == curve.lines[1].get_color()
    with pytest.raises(sgais.ConfigError, match="`exact` must name its models, \\['one', 'two'\\]"):
        plots.evidence(models, exact=truth)
    with pytest.raises(sgais.ConfigError, match="`exact` must have names among .*, got \\['three'\\]"):
        plots.evidence(models, exact={"three": truth})
    with pytest.raises(sgais.ConfigError, match="`exact` must have 4 values, one for each record, got 3"):
        plots.evidence(models, exact={"two": truth[:3]})


def test_models_of_a_comparison_have_gaps_where_they_have_no_part(comparison_records):
    (axes,) = plots.evidence(comparison_records).axes
    known = {line.get_label(): np.isfinite(line.get_ydata()).tolist() for line in axes.lines}
    assert known == {"a": [True, True, True, False], "b": [True] * 4, "c": [False, True, True, True]}


def test_axes_may_be_passed_in(make_records):
    figure = Figure()
    assert plots.evidence(make_records(), axes=figure.subplots()) is figure
    assert plots.evidence(make_records(), axes=figure.subfigures(1, 2)[0].subplots()) is figure
    with pytest.raises(sgais.ConfigError, match="`axes` must be 2 matplotlib axes"):
        plots.evidence(make_records(), exact=[0.0] * 4, axes=figure.subplots())
    with pytest.raises(sgais.ConfigError, match="`axes` must be 1 matplotlib axes, got 'none'"):
        plots.evidence(make_records(), axes="none")


def test_an_empty_curve_is_refused(make_records):
    with pytest.raises(sgais.ConfigError, match="`records` must hold at least one record, got \\[\\]"):
        plots.evidence([])
    with pytest.raises(sgais.ConfigError, match="`records` must hold at least one model, got {}"):
        plots.evidence({})
    with pytest.raises(sgais.ConfigError, match="`records\\['two'\\]` must hold at least one record"):
        plots.evidence({"one": make_records(), "two": []})
