"""How fast rows are taken in."""

import math
import time
from collections import deque
from itertools import pairwise
from statistics import median

SECONDS = 10.0  # over which the rows per second are taken


class Pace:
    """Rows per second, lately."""

    def __init__(self) -> None:
        self._moments: deque[tuple[float, int]] = deque()

    def note(self, num_rows: int) -> None:
        """So many rows have been taken in by now."""
        now = time.monotonic()
        if self._moments and now - self._moments[-1][0] < SECONDS / 100 and len(self._moments) > 1:
            self._moments.pop()  # a hundred moments are enough
        self._moments.append((now, num_rows))
        while len(self._moments) > 2 and now - self._moments[1][0] > SECONDS:
            self._moments.popleft()

    @property
    def rows_per_second(self) -> float:
        """NaN until there are two moments."""
        if len(self._moments) < 2:
            return math.nan
        (start, first), (end, last) = self._moments[0], self._moments[-1]
        return (last - first) / max(end - start, 1e-9)

    @property
    def seconds_per_row(self) -> float:
        """Of the usual chunk: one that waited for programs to be compiled says nothing of those to come."""
        moments = list(self._moments)
        paces = [(end - start) / (last - first) for (start, first), (end, last) in pairwise(moments) if last > first]
        return median(paces) if paces else math.nan

    @property
    def rows_per_second_now(self) -> float:
        """0 where nothing has come for a while, or not twice yet."""
        is_old = not self._moments or time.monotonic() - self._moments[-1][0] > SECONDS
        return 0.0 if is_old or len(self._moments) < 2 else self.rows_per_second
