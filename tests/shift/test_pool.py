"""Chunks of a few rows: judged together, so that false alarms keep their distance."""

import numpy as np
import pytest

import sgais
from sgais import checkpoint
from sgais.shift.pool import LEAST_ROWS

ROWS_BETWEEN = 3_000


def log_predictives(count, rows, seed):
    """Of chunks of Gaussian rows: chi-square numbers, far from Gaussian where rows are few."""
    return -0.5 * np.random.default_rng(seed).chisquare(rows, count)


def shown(scores, rows, **options):
    detector = sgais.ShiftDetector(ROWS_BETWEEN, **options)
    for score in scores:
        detector.update(score, num_rows=rows)
    return detector


@pytest.mark.parametrize("rows", [1, 4, 15])
def test_false_alarms_are_as_far_apart_as_asked(rows):
    num_rows = 60_000
    alarms = shown(log_predictives(num_rows // rows, rows, rows), rows).alarms
    assert num_rows / max(len(alarms), 1) > ROWS_BETWEEN / 2


def test_a_change_is_found_after_two_blocks_and_placed_where_one_begins():
    scores = log_predictives(2_000, 1, 0)
    scores[1_000:] -= 3.0
    (alarm,) = shown(scores, 1).alarms
    assert 1_000 < alarm.row <= 1_000 + 4 * LEAST_ROWS
    assert abs(alarm.location - 1_000) <= 2 * LEAST_ROWS


def test_small_chunks_are_judged_as_the_large_one_that_they_make_up():
    scores = log_predictives(400, 10, 1)
    scores[200:] -= 8.0
    small = shown(np.concatenate([[0.0], scores]), 10)  # the first teaches nothing
    large = shown(np.concatenate([[0.0], scores.reshape(-1, 2).sum(axis=1)]), 20)
    assert [alarm.row + 10 for alarm in small.alarms] == [alarm.row for alarm in large.alarms] != []


def test_expectations_are_added_up():
    scores = np.random.default_rng(2).normal(-30.0, 2.0, 30)
    scores[10:] -= 10.0
    small, large = sgais.ShiftDetector(), sgais.ShiftDetector()
    for score in scores:
        small.update(score, num_rows=10, expected=(-30.0, 2.0))
    for score in scores.reshape(-1, 2).sum(axis=1):
        large.update(score, num_rows=20, expected=(-60.0, np.hypot(2.0, 2.0)))
    assert small.alarms == large.alarms != []


def test_restored_it_goes_on_as_it_would(tmp_path):
    scores = log_predictives(900, 3, 3)
    scores[500:] -= 6.0
    straight, half = shown(scores, 3), shown(scores[:403], 3)  # in the midst of a block
    checkpoint.write(tmp_path / "half", half.state())
    resumed = sgais.ShiftDetector.restored(checkpoint.read(tmp_path / "half", {}))
    for score in scores[403:]:
        resumed.update(score, num_rows=3)
    assert resumed.state() == straight.state()
    assert straight.alarms
