"""Claims of the paper, and what our numbers say of them. A verdict is computed, and may be no."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from scipy.stats import spearmanr


class Verdict(StrEnum):
    """What the numbers say of a claim."""

    AGREES = "agrees"
    DIFFERS = "differs"
    UNKNOWN = "not measured"


class Finding(NamedTuple):
    """A claim and its verdict.

    Attributes:
        claim: What the paper says.
        verdict: Whether we find it too.
        measured: The numbers behind the verdict.
    """

    claim: str
    verdict: Verdict
    measured: str


SMALLEST_CORRELATION = 0.6  # of ranks: a trend may have one value out of order, not more


def judged(claim: str, holds: bool, measured: str) -> Finding:
    """A finding that the numbers decide."""
    return Finding(claim, Verdict.AGREES if holds else Verdict.DIFFERS, measured)


def unknown(claim: str, why: str) -> Finding:
    """A finding for which there are no numbers."""
    return Finding(claim, Verdict.UNKNOWN, why)


def rises(values: Sequence[float]) -> bool:
    """Whether values grow from first to last, and most of the way."""
    if len(values) < 2 or not np.isfinite(values).all() or not values[-1] > values[0]:
        return False
    return bool(spearmanr(range(len(values)), values).statistic >= SMALLEST_CORRELATION)


def falls(values: Sequence[float]) -> bool:
    """Whether values shrink from first to last, and most of the way."""
    return rises([-value for value in values])
