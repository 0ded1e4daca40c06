import numpy as np
import pytest

import sgais
from sgais import plots


def thickness(area, rows):
    vertices = area.get_paths()[0].vertices
    return [float(np.ptp(vertices[vertices[:, 0] == row, 1])) for row in rows]


def test_probabilities_are_stacked_and_fill_the_panel(comparison_records):
    (axes,) = plots.probabilities(comparison_records).axes
    areas = dict(zip("abc", axes.collections, strict=True))
    rows = [500, 1000, 5000, 20_000]
    assert thickness(areas["a"], rows) == pytest.approx([0.7, 0.5, 0.2, 0.0])
    assert thickness(areas["b"], rows) == pytest.approx([0.3, 0.3, 0.3, 0.1])
    assert thickness(areas["c"], rows) == pytest.approx([0.0, 0.2, 0.5, 0.9])
    assert axes.get_ylim() == (0.0, 1.0)
    assert axes.get_xlim() == (500, 20_000)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a", "b", "c"]


def test_areas_differ_without_colour(comparison_records):
    (axes,) = plots.probabilities(comparison_records).axes
    assert len({area.get_hatch() for area in axes.collections}) == 3


def test_lines_have_bands_and_gaps(comparison_records):
    (axes,) = plots.probabilities(comparison_records, stacked=False).axes
    lines = {line.get_label(): line.get_ydata() for line in axes.lines}
    np.testing.assert_array_equal(lines["a"], [0.7, 0.5, 0.2, np.nan])
    np.testing.assert_array_equal(lines["c"], [np.nan, 0.2, 0.5, 0.9])
    assert len(axes.collections) == 3
    band = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert (band.min(), band.max()) == pytest.approx((0.15, 0.75))


def test_a_single_record_can_be_drawn(comparison_records, tmp_path):
    figure = plots.probabilities(comparison_records[:1])
    figure.savefig(tmp_path / "one.png")
    assert thickness(figure.axes[0].collections[0], [450]) == pytest.approx([0.7])


def test_no_records_are_refused():
    with pytest.raises(sgais.ConfigError, match="`comparison_records` must hold at least one record, got \\[\\]"):
        plots.probabilities([])
