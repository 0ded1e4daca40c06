import numpy as np

from sgais import plots


def test_every_model_has_a_line_where_records_know_it(comparison_records):
    (axes,) = plots.weights(comparison_records).axes
    lines = {line.get_label(): line.get_ydata() for line in axes.lines}
    np.testing.assert_allclose(lines["b"], [0.7, 0.7, 0.7, 0.9])
    np.testing.assert_allclose(lines["c"], [np.nan, 0.8, 0.5, 0.1])
    assert axes.get_ylabel() == "weight in predictions"
