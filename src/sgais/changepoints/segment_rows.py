"""The rows of a stream from some row on, as an estimator that began there sees them."""

from typing import Protocol

import numpy as np

from sgais.fields import Chunk


class Rows(Protocol):
    """The rows of a stream so far."""

    @property
    def num_rows(self) -> int:
        """How many there are."""

    def between(self, start: int, end: int) -> Chunk:
        """The rows from `start` to before `end`."""

    def take(self, rows: np.ndarray, start: int, end: int) -> Chunk:
        """The rows with these numbers."""


class Since:
    """A past that begins at a row of another.

    Args:
        past: All rows; it may grow.
        start: The first row that counts.
    """

    def __init__(self, past: Rows, start: int) -> None:
        self._past, self.start = past, start

    @property
    def num_rows(self) -> int:
        """Rows since the start."""
        return self._past.num_rows - self.start

    @property
    def reach(self) -> int:
        """All of them: who forgets rows cannot look for change points."""
        return self.num_rows

    def between(self, start: int, end: int) -> Chunk:
        """The rows from `start` to before `end`, counted from the first that counts."""
        return self._past.between(self.start + start, self.start + end)

    def take(self, rows: np.ndarray, start: int, end: int) -> Chunk:
        """The rows with these numbers."""
        return self._past.take(self.start + rows, self.start + start, self.start + end)

    def num_kept(self, start: int, end: int) -> int:
        """All of them."""
        return end - start
