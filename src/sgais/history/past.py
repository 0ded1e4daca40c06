"""What estimators need of the past, whichever way it is kept."""

from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from sgais.fields import Chunk, num_rows


class RowSpan(NamedTuple):
    """The rows from `start` to before `end`, counted from the first of the stream.

    Example:
        >>> sgais.history.RowSpan(start=100, end=200)
        RowSpan(start=100, end=200)
    """

    start: int
    end: int


class Past(Protocol):
    """The rows before a chunk, to read.

    Example:
        >>> past: sgais.history.Past = sgais.history.Memory()
        >>> past.num_rows
        0
    """

    @property
    def num_rows(self) -> int:
        """How many there have been."""

    @property
    def reach(self) -> int:
        """How many of the latest are kept, each of them; `num_rows` where nothing is ever forgotten."""

    def between(self, start: int, end: int) -> Chunk:
        """The rows from `start` to before `end`, in the order of the stream; all must be within reach."""

    def take(self, rows: np.ndarray, start: int, end: int) -> Chunk:
        """The rows with these numbers between `start` and `end`: columns of shape `(*rows.shape, ...)`.

        Where not all rows between the two are kept, kept ones stand in, each of them for as many numbers.
        """

    def num_kept(self, start: int, end: int) -> int:
        """How many rows between the two are kept."""


class History(Past, Protocol):
    """A past that grows and can be saved.

    Example:
        >>> history: sgais.history.History = sgais.history.Reservoir(size=1_000)
        >>> evidence = sgais.OnlineEvidence(sgais.models.LinearRegression(dim=2), history=history)
    """

    def append(self, chunk: Chunk) -> None:
        """Add the rows of a checked chunk."""

    def state(self, folder: Path) -> dict[str, Any]:
        """Everything that the future depends on, for a checkpoint in a folder; `restored` makes a history of it."""


def draw(past: Past, generator: np.random.Generator, shape: tuple[int, ...]) -> Chunk:
    """Rows of all the past, drawn independently with replacement.

    Example:
        >>> history = sgais.history.Memory()
        >>> history.append({"y": np.arange(3.0)})
        >>> sgais.history.draw(history, np.random.default_rng(0), (4,))["y"].shape
        (4,)
    """
    return past.take(generator.integers(past.num_rows, size=shape), 0, past.num_rows)


def latest(past: Past, count: int) -> Chunk | None:
    """The latest rows of a past, at most `count` of them; None where there are none."""
    kept = min(count, past.reach)
    return past.between(past.num_rows - kept, past.num_rows) if kept else None


class Until:
    """The first rows of a past that keeps all of them, as it was when there were no more.

    Example:
        >>> history = sgais.history.Memory()
        >>> history.append({"y": np.arange(3.0)})
        >>> sgais.history.Until(history, 2).num_rows
        2
    """

    def __init__(self, past: Past, end: int) -> None:
        assert past.reach == past.num_rows, "rows are missing"
        self._past, self.num_rows, self.reach = past, end, end

    def between(self, start: int, end: int) -> Chunk:
        """The rows from `start` to before `end`."""
        return self._past.between(start, end)

    def take(self, rows: np.ndarray, start: int, end: int) -> Chunk:
        """The rows with these numbers."""
        return self._past.take(rows, start, end)

    def num_kept(self, start: int, end: int) -> int:
        """All of them."""
        return end - start


class Since:
    """A past from one of its rows on, which counts as its first; it grows as the past does."""

    def __init__(self, past: "Past | RowView", start: int) -> None:
        self._past, self._start = past, start

    @property
    def num_rows(self) -> int:
        """How many there have been from there on."""
        return self._past.num_rows - self._start

    @property
    def reach(self) -> int:
        """How many of the latest are kept, each of them."""
        return int(min(self._past.reach, self.num_rows))

    def between(self, start: int, end: int) -> Chunk:
        """The rows from `start` to before `end`."""
        return self._past.between(start + self._start, end + self._start)

    def take(self, rows: np.ndarray, start: int, end: int) -> Chunk:
        """The rows with these numbers, or what stands in for them."""
        return self._past.take(rows + self._start, start + self._start, end + self._start)

    def num_kept(self, start: int, end: int) -> int:
        """How many rows between the two are kept."""
        return self._past.num_kept(start + self._start, end + self._start)


class Shuffled:
    """The rows of a past that keeps all of them, in another order.

    Example:
        >>> history = sgais.history.Memory()
        >>> history.append({"y": np.arange(3.0)})
        >>> sgais.history.Shuffled(history, np.array([2, 0, 1])).between(0, 3)["y"].tolist()
        [2.0, 0.0, 1.0]
    """

    def __init__(self, past: Past, order: np.ndarray) -> None:
        assert past.reach == past.num_rows == len(order), "rows are missing"
        self._past, self._order = past, order
        self.num_rows = self.reach = len(order)

    def between(self, start: int, end: int) -> Chunk:
        """The rows from `start` to before `end` of this order."""
        return self._past.take(self._order[start:end], 0, self.num_rows)

    def take(self, rows: np.ndarray, start: int, end: int) -> Chunk:  # noqa: ARG002 - every row is kept
        """The rows with these numbers in this order."""
        return self._past.take(self._order[rows], 0, self.num_rows)

    def num_kept(self, start: int, end: int) -> int:
        """All of them."""
        return end - start


class RowView:
    """The past and a chunk that is just being taken in, as one stretch of rows; neither is changed or copied.

    Example:
        >>> history = sgais.history.Memory()
        >>> history.append({"y": np.arange(3.0)})
        >>> sgais.history.RowView(history, {"y": np.array([3.0])}).between(2, 4)["y"].tolist()
        [2.0, 3.0]
    """

    def __init__(self, past: Past, chunk: Chunk) -> None:
        self._past, self._chunk = past, chunk
        self.num_rows = past.num_rows + num_rows(chunk)

    @property
    def is_whole(self) -> bool:
        """Whether every row is at hand."""
        return self._past.reach == self._past.num_rows

    @property
    def reach(self) -> float:
        """How many of the latest rows before the next chunk will be at hand, each of them."""
        return np.inf if self.is_whole else self._past.reach

    def between(self, start: int, end: int) -> Chunk:
        """The rows from `start` to before `end`, in the order of the stream."""
        border = self._past.num_rows
        new = {name: values[max(0, start - border) : max(0, end - border)] for name, values in self._chunk.items()}
        if start >= border:
            return new
        old = self._past.between(start, min(end, border))
        return {name: np.concatenate([old[name], new[name]]) for name in new}

    def draw(self, generator: np.random.Generator, shape: tuple[int, ...], start: int, end: int) -> Chunk:
        """Rows between `start` and `end`, drawn independently with replacement."""
        return self.take(generator.integers(start, end, size=shape), start, end)

    def take(self, rows: np.ndarray, start: int, end: int) -> Chunk:
        """The rows with these numbers between `start` and `end`, or what stands in for them, as `Past.take` has it."""
        border = self._past.num_rows
        if end <= border:
            return self._past.take(rows, start, end)
        new = {name: values[np.maximum(rows - border, 0)] for name, values in self._chunk.items()}
        if start >= border:
            return new
        is_new = rows >= border
        drawn = self._past.take(np.minimum(rows, border - 1), start, border)
        for name, values in drawn.items():
            values[is_new] = new[name][is_new]
        return drawn

    def num_kept(self, start: int, end: int) -> int:
        """How many rows between the two are at hand."""
        border = min(max(self._past.num_rows, start), end)
        return end - border + (self._past.num_kept(start, border) if start < border else 0)

    def sample(self, generator: np.random.Generator, count: int, start: int, end: int) -> Chunk:
        """All rows between the two if there are no more than `count`, else `count` of them, or as many as are kept."""
        kept = self.num_kept(start, end)
        if kept == end - start <= count:
            return self.between(start, end)
        return self.draw(generator, (min(count, kept),), start, end)

    def weighted_sample(self, end: int) -> tuple[Chunk, np.ndarray]:
        """Rows that stand for all before `end`, and for how many each: one, where every row is kept."""
        border = min(end, self._past.num_rows)
        if self.is_whole or border == 0:
            return self.between(0, end), np.ones(end)
        kept = self._past.num_kept(0, border)
        old = self._past.take(-(-np.arange(kept) * border // kept), 0, border)  # each of those kept once
        new = self.between(border, end)
        counts = np.concatenate([np.full(kept, border / kept), np.ones(end - border)])
        return {name: np.concatenate([old[name], new[name]]) for name in new}, counts
