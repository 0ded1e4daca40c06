"""Families of points, the descendants of the same draws from the prior: what they differ by is an error.

The volumes' own error takes every new point for a fresh draw within the contour. A copy that has not forgotten its
parent, because moves are short or do not cross from one mode to another, makes that too small: which modes live on is
then a matter of drift. Points of different families share no ancestor, so that the evidence without one family at a
time (the jackknife) tells what all of that adds, much as in sequential Monte Carlo (Chan and Lai 2013).

Families may mix and compete, as they must: were each to replace its own dead, one that knows only a wide, low mode
would keep its share of the live points while that mode shrinks, and log Z would be too low.
"""

import numpy as np

from sgais.estimators.prior_volume import integrate, live_counts

MOST, SMALLEST, FEWEST = 40, 5, 10  # families, draws from the prior of each, and families whose spread tells something


def first_families(num_live: int) -> np.ndarray:
    """A family for each of so many draws from the prior; one for all if they are too few."""
    count = min(MOST, num_live // SMALLEST)
    return np.arange(num_live) % (count if count >= FEWEST else 1)


def standard_error(log_likelihoods: np.ndarray, births: np.ndarray, families: np.ndarray) -> float:
    """Of log Z, from what it would be without one family; NaN if there are too few.

    Args:
        log_likelihoods: Of the points in the order of their death, which is ascending.
        births: The contour that each was born above.
        families: Of each.
    """
    known = np.unique(families)
    if len(known) < FEWEST:
        return float("nan")
    without = []
    for family in known:
        others = families != family
        counts = live_counts(log_likelihoods[others], births[others])
        without.append(integrate(log_likelihoods[others], counts).log_evidence)
    return float(np.sqrt((len(known) - 1) * np.var(without)))
