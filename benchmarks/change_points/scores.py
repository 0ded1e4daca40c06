"""How well do change points agree with those of several annotators? As in the Turing Change Point Detection benchmark.

Van den Burg and Williams, "An evaluation of change point detection algorithms" (2020): F1 with a margin of five
rows, the start of the series counted as a change that everybody finds; and covering, the overlap of segments.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

MARGIN = 5


def f1(annotations: Sequence[Sequence[int]], found: Sequence[int]) -> float:
    """Precision against all annotators together, recall averaged over them."""
    predicted = {0, *found}
    true = [{0, *one} for one in annotations]
    precision = len(_matched(set.union(*true), predicted)) / len(predicted)
    recall = float(np.mean([len(_matched(one, predicted)) / len(one) for one in true]))
    return 2 * precision * recall / (precision + recall)


def covering(annotations: Sequence[Sequence[int]], found: Sequence[int], num_rows: int) -> float:
    """How much of each annotated segment its best counterpart covers, averaged over rows and annotators."""
    segments = _segments(found, num_rows)
    return float(np.mean([_covering(_segments(one, num_rows), segments, num_rows) for one in annotations]))


def _matched(true: set[int], predicted: set[int]) -> set[int]:
    """True changes that have been found, each by a prediction of its own."""
    left, matched = set(predicted), set()
    for change in sorted(true):
        near = [one for one in left if abs(one - change) <= MARGIN]
        if near:
            left.remove(min(near, key=lambda one: abs(one - change)))
            matched.add(change)
    return matched


def _segments(changes: Sequence[int], num_rows: int) -> list[tuple[int, int]]:
    borders = [0, *sorted({one for one in changes if 0 < one < num_rows}), num_rows]
    return list(pairwise(borders))


def _covering(true: list[tuple[int, int]], found: list[tuple[int, int]], num_rows: int) -> float:
    return sum((end - start) * max(_overlap((start, end), other) for other in found) for start, end in true) / num_rows


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> float:
    common = max(0, min(one[1], other[1]) - max(one[0], other[0]))
    return common / (max(one[1], other[1]) - min(one[0], other[0]))
