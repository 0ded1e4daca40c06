"""The past of a stream of any length in bounded memory: all of it coarsely, and its end in full."""

from collections.abc import Sequence
from typing import Any

import numpy as np

MOST_POINTS = 2048


class Timeline:
    """Points of some columns, of which the first grows (the rows seen).

    A point is a chunk at first. When the memory is full, neighbours become one: the later of the two, but for columns
    of which the maximum is of interest.

    Args:
        columns: Their names.
        peaks: Those whose maximum is kept.
        capacity: Points to keep.
    """

    def __init__(self, columns: Sequence[str], peaks: Sequence[str] = (), capacity: int = MOST_POINTS) -> None:
        self.columns = list(columns)
        self._is_peak = np.array([name in peaks for name in columns])
        self._points = np.empty((capacity, len(columns)))
        self._length = 0
        self._stride = 1  # chunks per point
        self._last: np.ndarray | None = None  # a point that is not full yet
        self._in_last = 0
        self._recent = np.empty((2 * capacity, len(columns)))  # each of the latest chunks
        self._recent_end = 0

    def append(self, values: Sequence[float]) -> None:
        """Add a chunk."""
        point = np.array(values, np.float64)
        self._add_recent(point)
        self._last = point if self._last is None else self._merged(self._last, point)
        self._in_last += 1
        if self._in_last == self._stride:
            self._points[self._length] = self._last
            self._length, self._last, self._in_last = self._length + 1, None, 0
        if self._length == len(self._points):
            half = self._length // 2
            self._points[:half] = self._merged(self._points[0::2], self._points[1::2])
            self._length, self._stride = half, 2 * self._stride

    def between(self, first: float, last: float, most: int) -> np.ndarray:
        """At most `most` points with `first <= points[:, 0] <= last`, as fine as they are kept."""
        recent = self._recent[: self._recent_end]
        points = recent if len(recent) and recent[0, 0] <= first else self._all()
        start, end = np.searchsorted(points[:, 0], first), np.searchsorted(points[:, 0], last, side="right")
        return self._thinned(points[start:end], max(most, 1))

    @property
    def newest(self) -> np.ndarray | None:
        """The latest chunk."""
        return self._recent[self._recent_end - 1] if self._recent_end else None

    def state(self) -> dict[str, Any]:
        """For a checkpoint."""
        return {
            "columns": self.columns,
            "points": self._points[: self._length],
            "stride": self._stride,
            "last": self._last,
            "in_last": self._in_last,
            "recent": self._recent[: self._recent_end],
        }

    def restore(self, state: dict[str, Any], columns: Sequence[str] = ()) -> None:
        """Resume from a state; what it does not have is not known.

        Args:
            state: Of a timeline.
            columns: Those of a state that does not name them, as long ago; the same as here if empty.
        """
        names = list(state.get("columns", columns or self.columns))
        self._length, self._recent_end = len(state["points"]), len(state["recent"])
        self._points[: self._length] = self._arranged(state["points"], names)
        self._recent[: self._recent_end] = self._arranged(state["recent"], names)
        self._last = None if state["last"] is None else self._arranged(state["last"], names)
        self._stride, self._in_last = state["stride"], state["in_last"]

    def _arranged(self, points: np.ndarray, names: list[str]) -> np.ndarray:
        """Points with these columns, with ours; NaN where there is nothing."""
        found = np.full((*points.shape[:-1], len(self.columns)), np.nan)
        for number, name in enumerate(self.columns):
            if name in names:
                found[..., number] = points[..., names.index(name)]
        return found

    def _add_recent(self, point: np.ndarray) -> None:
        if self._recent_end == len(self._recent):
            half = self._recent_end // 2
            self._recent[:half] = self._recent[half:]
            self._recent_end = half
        self._recent[self._recent_end] = point
        self._recent_end += 1

    def _all(self) -> np.ndarray:
        """Coarse points of the whole stream, the newest included."""
        points = self._points[: self._length]
        return points if self._last is None else np.vstack([points, self._last])

    def _merged(self, earlier: np.ndarray, later: np.ndarray) -> np.ndarray:
        return np.where(self._is_peak, np.fmax(earlier, later), later)

    def _thinned(self, points: np.ndarray, most: int) -> np.ndarray:
        """No more than `most` points, each of as many neighbours; the newest stays the last."""
        if len(points) <= most:
            return points.copy()
        ends = np.linspace(0, len(points), most + 1).round().astype(int)
        thinned = points[ends[1:] - 1].copy()
        with np.errstate(invalid="ignore"):
            peaks = np.fmax.reduceat(points[:, self._is_peak], ends[:-1], axis=0)
        thinned[:, self._is_peak] = peaks
        return thinned
