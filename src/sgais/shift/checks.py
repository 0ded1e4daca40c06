"""What a detector may be told."""

import math

import numpy as np

from sgais.errors import require


def require_positive(name: str, value: object) -> None:
    """A positive number."""
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    require(is_number and 0.0 < float(value) < math.inf, name, "be a positive number", value)  # type: ignore[arg-type]


def require_finite(name: str, value: object) -> None:
    """A finite number."""
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    cure = "Leave out chunks without a score."
    require(is_number and math.isfinite(float(value)), name, "be a finite number", value, cure)  # type: ignore[arg-type]


def check_expected(expected: tuple[float, float] | None) -> None:
    """A mean and a standard deviation, where there are any."""
    if expected is None:
        return
    is_pair = isinstance(expected, tuple | list) and len(expected) == 2 and all(map(math.isfinite, expected))
    require(is_pair and expected[1] > 0.0, "expected", "be a mean and a positive standard deviation", expected)
