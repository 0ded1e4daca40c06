"""A sample of fixed size, uniform over every row seen, and the latest rows: memory that does not grow.

Vitter (1985) showed how to keep such a sample of a stream; the rows that enter it are found by skips (Algorithm L, Li
1994), so that the cost per row falls as the stream continues.
"""

import math
from pathlib import Path
from typing import Any

import numpy as np

from sgais.errors import require_count
from sgais.fields import Chunk
from sgais.history.recent import Recent
from sgais.history.records import to_columns, to_records


class Reservoir:
    """A uniform sample of `size` rows of everything seen, and the latest `size` rows.

    Until more than `size` rows have come, every row is there, and estimates are the same to the bit as with all rows
    in memory.

    Args:
        size: Rows to keep. What the default estimator keeps in exact sums does not depend on it; see docs/streams.md.
        seed: Determines which rows are kept, however they are cut into chunks.

    Example:
        >>> history = sgais.history.Reservoir(size=10)
        >>> for start in range(0, 100, 20):
        ...     history.append({"y": np.arange(start, start + 20.0)})
        >>> history.num_rows, history.reach, history.between(98, 100)["y"].tolist()
        (100, 10, [98.0, 99.0])
    """

    def __init__(self, size: int = 100_000, seed: int = 0) -> None:
        require_count("size", size, smallest=2)
        require_count("seed", seed, smallest=0)
        self.size, self.seed = size, seed
        self._generator = np.random.default_rng(seed)
        self._recent = Recent(size)
        self._sample: np.ndarray | None = None  # until it is full, its rows are those of `_recent`
        self._numbers = np.empty(0, np.int64)  # of the rows in the sample, counted from the start of the stream
        self._log_threshold = 0.0
        self._next_entry = size

    def __repr__(self) -> str:
        return f"Reservoir(size={self.size}, num_rows={self.num_rows})"

    @property
    def num_rows(self) -> int:
        """How many rows there have been."""
        return self._recent.num_rows

    @property
    def reach(self) -> int:
        """How many of the latest rows are kept, each of them."""
        return min(self.num_rows, self.size)

    def append(self, chunk: Chunk) -> None:
        """Add the rows of a checked chunk: each to the latest rows, some to the sample."""
        records = to_records(chunk)
        first, end = self.num_rows, self.num_rows + len(records)
        if self._sample is None and end >= self.size:
            self._fill(records)
        self._recent.append(records)
        entries, slots = self._entries(end)
        if self._sample is not None and entries:
            self._sample[slots] = records[np.array(entries) - first]
            self._numbers[slots] = entries

    def between(self, start: int, end: int) -> Chunk:
        """The rows from `start` to before `end`, within reach."""
        return to_columns(self._recent.between(start, end))

    def take(self, rows: np.ndarray, start: int, end: int) -> Chunk:
        """The rows with these numbers if all between `start` and `end` are within reach, else rows of the sample."""
        if start >= self.num_rows - self.reach:
            return to_columns(self._recent.take(rows))
        assert self._sample is not None
        kept = self._kept(start, end)
        # The numbers are spread evenly over the stretch, so this spreads them evenly over what is kept of it.
        chosen = kept[(rows - start) * len(kept) // (end - start)]
        return to_columns(self._sample.take(chosen, mode="clip"))

    def num_kept(self, start: int, end: int) -> int:
        """How many rows between the two are kept."""
        if start >= self.num_rows - self.reach:
            return end - start
        return len(self._kept(start, end))

    def _kept(self, start: int, end: int) -> np.ndarray:
        """The places in the sample of rows between the two numbers."""
        if start == 0 and end == self.num_rows:
            return np.arange(self.size)
        return np.flatnonzero((self._numbers >= start) & (self._numbers < end))

    def _fill(self, records: np.ndarray) -> None:
        """The first rows of all make the first sample."""
        missing = self.size - self.num_rows
        before = self._recent.between(0, self.num_rows) if self.num_rows else records[:0]
        self._sample = np.concatenate([before, records[:missing]])
        self._numbers = np.arange(self.size)
        self._next_entry = self.size - 1
        self._skip()

    def _entries(self, end: int) -> tuple[list[int], list[int]]:
        """The numbers of the rows before `end` that enter the sample, and the places that they take."""
        entries, slots = [], []
        while self._sample is not None and self._next_entry < end:
            entries.append(self._next_entry)
            slots.append(int(self._generator.integers(self.size)))
            self._skip()
        return entries, slots

    def _skip(self) -> None:
        """Choose the next row that enters: each has the chance size / (rows so far), as the threshold has it."""
        self._log_threshold += math.log1p(-self._generator.random()) / self.size
        skipped = math.log1p(-self._generator.random()) / math.log1p(-math.exp(self._log_threshold))
        self._next_entry += math.floor(skipped) + 1

    def state(self, folder: Path) -> dict[str, Any]:  # noqa: ARG002 - all of it is in the checkpoint
        """Everything that the future depends on, for a checkpoint."""
        return {
            "size": self.size,
            "seed": self.seed,
            "num_rows": self.num_rows,
            "random_state": self._generator.bit_generator.state,
            "recent": to_columns(self._recent.between(self.num_rows - self.reach, self.num_rows)),
            "sample": None if self._sample is None else to_columns(self._sample),
            "numbers": self._numbers,
            "log_threshold": self._log_threshold,
            "next_entry": self._next_entry,
        }

    @classmethod
    def restored(cls, state: dict[str, Any], folder: Path) -> "Reservoir":  # noqa: ARG003 - see `state`
        """The reservoir that had this state."""
        reservoir = cls(state["size"], state["seed"])
        reservoir._generator.bit_generator.state = state["random_state"]
        reservoir._recent.append(to_records(state["recent"]))
        reservoir._recent.num_rows = state["num_rows"]
        reservoir._sample = None if state["sample"] is None else to_records(state["sample"])
        reservoir._numbers = state["numbers"].copy()
        reservoir._log_threshold, reservoir._next_entry = state["log_threshold"], state["next_entry"]
        return reservoir
