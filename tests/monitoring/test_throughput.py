"""How long the rest will take is judged by the usual chunk."""

import math

import pytest

from sgais.monitoring import throughput
from sgais.monitoring.throughput import Pace


def test_a_chunk_that_waited_for_the_compiler_does_not_count(monkeypatch):
    now = 0.0
    monkeypatch.setattr(throughput.time, "monotonic", lambda: now)
    pace = Pace()
    pace.note(100)
    assert math.isnan(pace.seconds_per_row)
    for chunk, seconds in enumerate([1.0, 6.0, 1.0, 1.0], start=2):
        now += seconds
        pace.note(100 * chunk)
    assert pace.seconds_per_row == pytest.approx(0.01)
    assert pace.rows_per_second == pytest.approx(400 / 9.0), "the mean is another thing"
