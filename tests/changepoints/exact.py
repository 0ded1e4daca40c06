"""Change points of a stream by brute force: all segmentations, with segments whose evidence is known."""

from itertools import pairwise

import numpy as np
from scipy.special import logsumexp


def segment_evidences(model, data, ends):
    """Log Z of the rows between any two borders, shape (borders, borders), -inf where there are none."""
    borders = [0, *ends]
    found = np.full((len(borders), len(borders)), -np.inf)
    for first, start in enumerate(borders[:-1]):
        rows = {name: values[start:] for name, values in data.items()}
        found[first, first + 1 :] = model.log_evidence_curve(rows, [end - start for end in borders[first + 1 :]])
    return found


def all_segmentations(evidences, changes):
    """Log Z and the probability of a change at each inner border: every one of the 2^n segmentations is written down.

    Args:
        evidences: Of segments, as `segment_evidences` gives them.
        changes: The prior probability of a change at each inner border.
    """
    count = len(evidences) - 2
    logs, patterns = [], []
    for number in range(2**count):
        pattern = np.array([(number >> place) & 1 for place in range(count)], bool)
        borders = [0, *(np.flatnonzero(pattern) + 1), count + 1]
        prior = np.sum(np.where(pattern, np.log(changes), np.log1p(-np.asarray(changes))))
        logs.append(prior + sum(evidences[one, other] for one, other in pairwise(borders)))
        patterns.append(pattern)
    total = logsumexp(logs)
    best = [0, *(np.flatnonzero(patterns[int(np.argmax(logs))]) + 1)]
    return total, np.exp(np.array(logs) - total) @ np.array(patterns), best


def by_recursion(evidences, changes):
    """The same, forwards and backwards, for many borders; `evidences` of several models may be mixed beforehand."""
    count = len(evidences) - 1
    change = np.array([1.0, *changes])
    stays = np.concatenate([[0.0], np.cumsum(np.log1p(-change[1:]))])  # at inner borders 1, ...

    def between(first, last):
        return stays[last - 1] - stays[first]

    forward = np.zeros(count + 1)
    for last in range(1, count + 1):
        terms = [
            forward[first] + np.log(change[first]) + between(first, last) + evidences[first, last]
            for first in range(last)
        ]
        forward[last] = logsumexp(terms)
    backward = np.zeros(count + 1)
    for first in range(count - 1, -1, -1):
        terms = [
            (np.log(change[last]) if last < count else 0.0)
            + (between(first, last) + evidences[first, last] + backward[last])
            for last in range(first + 1, count + 1)
        ]
        backward[first] = logsumexp(terms)
    inner = np.arange(1, count)
    return forward[count], np.exp(forward[inner] + np.log(change[inner]) + backward[inner] - forward[count])
