"""What the ready models share: they are known by their options, so equal models share compiled code."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sgais.errors import require
from sgais.models.base import Model


class ReadyModel(Model):
    """A model that is determined by a few options; two with the same options are equal."""

    options: dict[str, Any]

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.options == getattr(other, "options", None)

    def __hash__(self) -> int:
        return hash((type(self), tuple(self.options.items())))

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in self.options.items() if value is not None)
        return f"{type(self).__name__}({options})"


def require_features(dim: int, features: Sequence[int] | None) -> tuple[int, ...] | None:
    """Check a choice of features; None stands for all of them."""
    if features is None:
        return None
    chosen = tuple(int(number) for number in features)
    is_choice = len(set(chosen)) == len(chosen) > 0 and all(0 <= number < dim for number in chosen)
    require(is_choice, "features", f"be different numbers from 0 to {dim - 1}", features)
    return None if chosen == tuple(range(dim)) else chosen


def require_positive(name: str, value: float) -> float:
    """Check an option that is a scale."""
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    require(is_number and 0 < value < float("inf"), name, "be a positive number", value)
    return float(value)
