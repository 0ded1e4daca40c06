"""How far a CUSUM may climb before it is an alarm, from the distance between false alarms that one accepts.

Siegmund, Sequential Analysis (1985), chapter 10: a one-sided CUSUM of standard Gaussian scores with reference value k
and threshold h runs on average

    (exp(2 k b) - 2 k b - 1) / (2 k^2)    steps,    b = h + 1.166,

before it gives a false alarm.
"""

import math
from functools import lru_cache

from scipy.optimize import brentq

OVERSHOOT = 1.166  # twice the mean by which a Gaussian walk passes a level


def run_length(threshold: float, reference: float) -> float:
    """The mean number of steps to a false alarm, by Siegmund's approximation."""
    reach = 2.0 * reference * (threshold + OVERSHOOT)
    return (math.expm1(reach) - reach) / (2.0 * reference**2)


@lru_cache(maxsize=256)
def threshold_for(mean_run_length: float, reference: float) -> float:
    """The threshold with this mean number of steps to a false alarm; 0 where even that is too far."""
    if mean_run_length <= run_length(0.0, reference):
        return 0.0
    # exp(reach) grows past any run length before `highest` is reached.
    highest = math.log(4.0 + 4.0 * reference**2 * mean_run_length) / reference
    return float(brentq(lambda height: run_length(height, reference) - mean_run_length, 0.0, highest))
