"""What a problem of the suite is: a model, rows in the order in which they come, and how log Z is known."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

Rows: TypeAlias = dict[str, np.ndarray]
QUARTERS = 4
SAME_SUM = 1e-4  # relative, of rows that are the same but for rounding
LARGEST_CHUNK = 500
TUNING, REPORT = "tuning", "report"
HALVES = (TUNING, REPORT)  # settings may be tried out on the first; only the second says how good they are


class Truth(NamedTuple):
    """Log Z of some rows, its standard error, and how it was found."""

    log_evidence: float
    error: float
    method: str
    note: str = ""
    is_sound: bool = True  # nothing is known against it
    rows_sum: float | None = None  # of their absolute numbers: rows may come out otherwise on another machine

    def is_of(self, rows: Rows) -> bool:
        """Whether these are the rows it was found for."""
        return self.rows_sum is None or bool(np.isclose(self.rows_sum, rows_sum(rows), rtol=SAME_SUM))


Method: TypeAlias = Callable[[Rows], Truth]


@dataclass(frozen=True)
class Problem:
    """A model, its rows and its truth.

    Attributes:
        name: Unlike all others.
        family: Problems that are hard for the same reason.
        model: Builds the model; JAX compiles for each object anew, so build it once in a process.
        rows: Makes the rows, the same ones every time, in the order in which they come.
        truth: Log Z of some rows.
        check: A second way to find it, where there is one.
        same_truth_as: The problem with the same rows, prior and likelihood, whose truths hold here as well.
        only_at_end: Whether the truth is too dear to be found on the way.
        is_quick: Whether a run takes but seconds.
    """

    name: str
    family: str
    model: Callable[[], Any]
    rows: Callable[[], Rows]
    truth: Method | None = None
    check: Method | None = None
    same_truth_as: str = ""
    only_at_end: bool = False
    is_quick: bool = True


class Plan(NamedTuple):
    """How a stream is cut: chunks of one size, and the rows after which log Z is looked at."""

    chunk: int
    checkpoints: tuple[int, ...]


def plan(num_rows: int) -> Plan:
    """Chunks of at most 500 rows that end at about each quarter of the rows."""
    chunks_per_quarter = -(-num_rows // (QUARTERS * LARGEST_CHUNK))
    chunk = -(-num_rows // (QUARTERS * chunks_per_quarter))
    ends = (quarter * chunks_per_quarter * chunk for quarter in range(1, QUARTERS))
    return Plan(chunk, (*(end for end in ends if end < num_rows), num_rows))


def head(rows: Rows, count: int) -> Rows:
    """The first so many rows."""
    return {name: values[:count] for name, values in rows.items()}


def rows_sum(rows: Rows) -> float:
    """The sum of their absolute numbers, which tells them from others."""
    return float(sum(np.abs(values).sum(dtype=np.float64) for values in rows.values()))


def length(rows: Rows) -> int:
    """How many rows there are."""
    return len(next(iter(rows.values())))


def shuffled(rows: Rows, seed: int = 0) -> Rows:
    """The same rows in another order."""
    order = np.random.default_rng(seed).permutation(length(rows))
    return {name: values[order] for name, values in rows.items()}


def as_float32(**columns: np.ndarray) -> Rows:
    """Rows as the library takes them; truths are of these rounded numbers."""
    return {name: np.asarray(values).astype(np.float32) for name, values in columns.items()}
