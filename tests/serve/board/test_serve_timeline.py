"""The past of a long stream in bounded memory."""

import numpy as np
import pytest

from sgais.serve.board.timeline import Timeline


def filled(count, capacity=64):
    timeline = Timeline(["row", "value", "peak"], ["peak"], capacity)
    for row in range(1, count + 1):
        timeline.append([row, 2 * row, 100 if row == 777 else row % 3])
    return timeline


@pytest.mark.parametrize("count", [1, 63, 64, 65, 1000, 12_345])
def test_it_spans_the_whole_stream_with_few_points(count):
    points = filled(count).between(0, np.inf, 10**6)
    assert len(points) <= max(2 * 64, 65)
    assert points[-1, 0] == count
    assert points[0, 0] <= max(1, count / 16)
    np.testing.assert_array_equal(points[:, 1], 2 * points[:, 0])
    assert (np.diff(points[:, 0]) > 0).all()


def test_peaks_are_not_lost():
    points = filled(12_345).between(0, np.inf, 10)
    assert len(points) == 10
    assert points[:, 2].max() == 100


def test_the_end_is_kept_in_full():
    points = filled(12_345).between(12_300, 12_340, 1000)
    assert points[:, 0].tolist() == list(range(12_300, 12_341))


def test_what_is_not_known_is_no_peak():
    timeline = Timeline(["row", "peak"], ["peak"], 4)
    for row in range(1, 20):
        timeline.append([row, np.nan if row % 2 else row])
    assert np.nanmax(timeline.between(0, 100, 2)[:, 1]) == 18


def test_it_goes_on_from_its_state():
    one, other = filled(500), Timeline(["row", "value", "peak"], ["peak"], 64)
    other.restore(one.state())
    for timeline in (one, other):
        for row in range(501, 900):
            timeline.append([row, 0, 0])
    np.testing.assert_array_equal(one.between(0, 10**6, 10**6), other.between(0, 10**6, 10**6))


def test_no_point_fits():
    assert len(Timeline(["row"]).between(0, 10, 10)) == 0
    assert len(filled(10).between(20, 30, 10)) == 0


def test_a_state_with_other_columns_is_taken_as_far_as_it_goes():
    one, other = filled(500), Timeline(["row", "new", "value", "peak"], ["peak"], 64)
    other.restore(one.state())
    before, after = one.between(0, 10**6, 10**6), other.between(0, 10**6, 10**6)
    np.testing.assert_array_equal(after[:, [0, 2, 3]], before)
    assert np.isnan(after[:, 1]).all()


def test_a_state_that_does_not_name_its_columns():
    one, other = filled(500), Timeline(["row", "value", "new", "peak"], ["peak"], 64)
    state = one.state()
    del state["columns"]
    other.restore(state, ["row", "value", "peak"])
    np.testing.assert_array_equal(other.between(0, 10**6, 10**6)[:, [0, 1, 3]], one.between(0, 10**6, 10**6))
