"""Checks of nested sampling on itself: the insertion order of new points, and families of old ones.

New live points should fall anywhere among the others: the insertion-order test of Fowlie, Handley and Su (2020).
What families of points, the descendants of the same draws from the prior, differ by is an error.
"""

import numpy as np

from sgais.estimators.nested.integral import integrate, live_counts

NUM_TERMS = 100  # of the series of Kolmogorov's distribution, which needs a handful


def insertion_ranks(generator: np.random.Generator, live: np.ndarray, new: np.ndarray) -> np.ndarray:
    """The rank of each new value among the live ones and the new ones before it, over their number: in (0, 1).

    Counting the new ones before it makes the ranks of one iteration independent. A rank is one of a few whole
    numbers; a uniform draw spreads it over the interval up to the next one, and over those of equal values.
    """
    earlier = np.tri(len(new), k=-1, dtype=bool)
    lower = np.searchsorted(live, new, side="left") + (earlier & (new < new[:, None])).sum(axis=1)
    equal = np.searchsorted(live, new, side="right") - np.searchsorted(live, new, side="left")
    equal = equal + (earlier & (new == new[:, None])).sum(axis=1)
    return (lower + generator.random(len(new)) * (equal + 1)) / (len(live) + np.arange(len(new)) + 1)


def uniformity_p_value(values: np.ndarray) -> float:
    """The Kolmogorov-Smirnov test of values in (0, 1) against the uniform; NaN without values."""
    count = len(values)
    if count == 0:
        return float("nan")
    ordered, steps = np.sort(values), np.arange(count + 1) / count
    distance = max(float(np.max(steps[1:] - ordered)), float(np.max(ordered - steps[:-1])))
    scaled = (np.sqrt(count) + 0.12 + 0.11 / np.sqrt(count)) * distance  # Stephens (1970)
    terms = np.arange(1, NUM_TERMS + 1)
    series = 2 * np.sum((-1.0) ** (terms - 1) * np.exp(-2 * (terms * scaled) ** 2))
    return float(np.clip(series, 0.0, 1.0)) if scaled > 0.2 else 1.0  # where the series is slow, the answer is 1


MOST, SMALLEST, FEWEST = 40, 5, 10  # families, draws from the prior of each, and families whose spread tells something


def first_families(num_live: int) -> np.ndarray:
    """A family for each of so many draws from the prior; one for all if they are too few."""
    count = min(MOST, num_live // SMALLEST)
    return np.arange(num_live) % (count if count >= FEWEST else 1)


def standard_error(log_likelihoods: np.ndarray, births: np.ndarray, families: np.ndarray) -> float:
    """The standard error of log Z, from what it would be without one family; NaN if there are too few.

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
