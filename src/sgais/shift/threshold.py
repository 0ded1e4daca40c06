"""How far a CUSUM may climb before it is an alarm, from the distance between false alarms that one accepts.

A one-sided CUSUM of standard Gaussian scores with reference value k and threshold h runs on average about

    (exp(2 k b) - 2 k b - 1) / (2 k^2)    steps,    b = h + 1.166,

before it gives a false alarm (Siegmund, Sequential Analysis, 1985). Here scores are cut off, so that no single one
raises an alarm, and it runs longer. So the formula only says where to look for the threshold, and the run length is
that of a Markov chain on a grid of heights (Brook and Evans, Biometrika 1972).
"""

import math
from functools import lru_cache

import numpy as np
from scipy.special import ndtr

LARGEST_STEP = 0.55  # of the threshold: one chunk is an outlier, two in a row are a shift
NUM_HEIGHTS = 60


def largest_score(threshold: float, reference: float) -> float:
    """Where scores are cut off."""
    return reference + LARGEST_STEP * threshold


def run_length(threshold: float, reference: float) -> float:
    """The mean number of steps to a false alarm."""
    width = 2.0 * threshold / (2 * NUM_HEIGHTS - 1)  # the lowest cell is half as wide: its middle is 0
    heights = width * np.arange(NUM_HEIGHTS)
    steps = heights + width / 2.0 - heights[:, np.newaxis]  # from the middle of each to the upper end of each
    below = np.where(steps < LARGEST_STEP * threshold, ndtr(steps + reference), 1.0)
    moves = np.diff(below, axis=1, prepend=0.0)
    return float(np.linalg.solve(np.eye(NUM_HEIGHTS) - moves, np.ones(NUM_HEIGHTS))[0])


def siegmund(threshold: float, reference: float) -> float:
    """The mean number of steps to a false alarm if scores are not cut off, approximately."""
    reach = 2.0 * reference * (threshold + 1.166)
    return (math.expm1(reach) - reach) / (2.0 * reference**2)


@lru_cache(maxsize=256)
def threshold_for(mean_run_length: float, reference: float) -> float:
    """The threshold with this mean number of steps to a false alarm; a very low one where that is hardly any."""
    lowest, highest = 0.1, 1.0
    while siegmund(highest, reference) < mean_run_length:
        highest += 1.0
    if run_length(lowest, reference) >= mean_run_length:
        return lowest
    from scipy.optimize import brentq  # slow to import

    return float(brentq(lambda height: run_length(height, reference) - mean_run_length, lowest, highest, xtol=1e-6))
