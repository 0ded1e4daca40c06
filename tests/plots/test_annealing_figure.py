import numpy as np

from sgais import plots


def test_chunks_that_stand_apart_are_shown_one_by_one(make_records):
    (axes,) = plots.annealing({"one": make_records(steps=(30, 5, 0, 2)), "two": make_records(steps=(8, 4, 1, 1))}).axes
    np.testing.assert_array_equal(axes.lines[0].get_xdata(), [500, 1000, 5000, 20_000])
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), [30, 5, 0, 2])
    np.testing.assert_array_equal(axes.lines[1].get_ydata(), [8, 4, 1, 1])
    assert axes.get_ylabel() == "annealing steps per chunk"
    assert {0.0, 1.0, 10.0, 20.0} <= set(axes.get_yticks())


def test_neighbours_become_a_mean_and_a_band(make_records):
    (axes,) = plots.annealing(make_records(rows=(1000, 9980, 9990, 100_000), steps=(3, 1, 5, 2))).axes
    np.testing.assert_array_equal(axes.lines[0].get_xdata(), [1000, 9985, 100_000])
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), [3, 3, 2])
    vertices = axes.collections[0].get_paths()[0].vertices
    assert set(vertices[vertices[:, 0] == 9985, 1]) == {1, 5}


def test_a_spike_after_ten_thousand_rows_is_not_averaged_away(make_records):
    rows = tuple(range(500, 20_001, 500))
    steps = tuple(50 if count == 10_500 else 1 for count in rows)
    (axes,) = plots.annealing(make_records(rows=rows, steps=steps)).axes
    line = axes.lines[0]
    assert dict(zip(line.get_xdata(), line.get_ydata(), strict=True))[10_500] == 50


def test_gaps_of_a_comparison_stay_gaps(comparison_records):
    (axes,) = plots.annealing(comparison_records).axes
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), [3, 3, 3, np.nan])
