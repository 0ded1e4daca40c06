import numpy as np
import pytest
from matplotlib.figure import Figure

import sgais
from sgais import plots, simulate
from sgais.models import LinearRegression


@pytest.fixture(scope="module")
def records():
    return sgais.estimate(LinearRegression(dim=5), simulate.linear_regression(1500).data).records


def test_the_curve_is_log_evidence_per_row(records):
    (axes,) = plots.evidence(records).axes
    rows, values = axes.lines[0].get_data()
    np.testing.assert_array_equal(rows, [500, 1000, 1500])
    np.testing.assert_allclose(values, [record.log_evidence / record.num_rows for record in records])


def test_the_exact_curve_adds_the_error_in_nats(records):
    exact = [record.log_evidence + 3.0 for record in records]
    curve, error = plots.evidence(records, exact=exact).axes
    assert len(curve.lines) == 2
    np.testing.assert_allclose(error.lines[0].get_ydata(), -3.0)
    top = error.collections[0].get_paths()[0].vertices[:, 1].max()
    assert top == pytest.approx(-3.0 + 1.96 * max(record.standard_error for record in records))


def test_axes_may_be_passed_in(records):
    figure = Figure()
    assert plots.evidence(records, axes=figure.subplots()) is figure
    with pytest.raises(sgais.ConfigError, match="`axes` must be 2 matplotlib axes"):
        plots.evidence(records, exact=[0.0] * 3, axes=figure.subplots())


def test_an_empty_curve_is_refused():
    with pytest.raises(sgais.ConfigError, match="at least one record"):
        plots.evidence([])
