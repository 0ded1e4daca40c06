"""A slowdown is seen, and only a slowdown."""

import numpy as np
import pytest

from benchmarks.problems import PROBLEMS
from benchmarks.slowdown import slower
from benchmarks.yardstick import passes

BASELINE = {"linear": 5.0, "import": 1.0}


@pytest.mark.parametrize(
    ("measured", "expected"),
    [
        ({"linear": 5.0, "import": 1.0}, []),
        ({"linear": 6.4, "import": 0.1}, []),
        ({"linear": 6.6, "import": 1.0}, ["linear"]),
        ({"linear": 1.0, "import": 1.4, "new": 9.0}, ["import"]),
        ({"linear": 5.0}, ["import"]),
        ({"linear": float("nan"), "import": 1.0}, ["linear"]),
    ],
)
def test_more_than_thirty_percent_is_too_slow(measured, expected):
    assert slower(BASELINE, measured) == expected


def test_the_yardstick_grows_with_its_work():
    model, data = PROBLEMS["linear"].model, PROBLEMS["linear"].simulate(20_000).data
    few, many = (passes(model, data, count, repeats=5) for count in (8, 800))
    assert np.all(np.array(many) > 3 * np.array(few))
