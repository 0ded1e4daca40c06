"""A checkpoint is due after so many chunks or seconds, whichever comes first."""

import time

import pytest

from sgais.checkpoint import Schedule
from sgais.errors import ConfigError


def due(schedule, chunks):
    return [schedule.is_due() for _ in range(chunks)]


def test_every_few_chunks():
    assert due(Schedule(every_chunks=3, every_seconds=None), 7) == [False, False, True] * 2 + [False]


def test_every_few_seconds():
    assert not any(due(Schedule(every_seconds=3600.0), 5))
    assert all(due(Schedule(every_seconds=0.0), 5))
    schedule = Schedule(every_seconds=0.01)
    time.sleep(0.02)
    assert schedule.is_due()


def test_whichever_comes_first():
    assert due(Schedule(every_chunks=2, every_seconds=3600.0), 4) == [False, True, False, True]
    assert all(due(Schedule(every_chunks=100, every_seconds=0.0), 4))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"every_chunks": 0}, "`every_chunks` must be a whole number of at least 1, got 0"),
        ({"every_seconds": -1.0}, "`every_seconds` must be None or at least 0, got -1.0"),
        ({"every_seconds": "often"}, "`every_seconds` must be None or at least 0, got 'often'"),
    ],
)
def test_impossible_schedules_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        Schedule(**options)


def test_after_a_slow_chunk():
    schedule = Schedule(None, None, slow_chunk_seconds=0.01)
    assert not schedule.is_due()
    time.sleep(0.02)
    assert schedule.is_due()
    assert not schedule.is_due()
