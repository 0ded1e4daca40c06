"""Do new live points fall where they should? The insertion-order test of Fowlie, Handley and Su (2020).

If a new point is drawn from the prior within the contour, as the live points are, its rank among them is uniform.
Ranks that are not give away moves that are too short.
"""

import numpy as np

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
