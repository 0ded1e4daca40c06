"""The e-process of a stream, chunk by chunk, and what may be decided from it."""

from typing import Any, NamedTuple

import numpy as np

from sgais.errors import is_number, require
from sgais.results.record import EvidenceRecord
from sgais.results.record_table import GrowingTable

ERRORS_OFF = 3.0  # standard errors that are taken off the alternative's log Z
NUMBERS = {"num_rows": int, "log_e": float, "lower_log_evidence": float, "largest_log_likelihood": float}


class EValue(NamedTuple):
    """A point of an e-process.

    Attributes:
        num_rows: Rows seen so far.
        log_e: The lower bound of the alternative's log Z minus the upper bound of the null's log-likelihood; -inf where
            one of them is not known.
        lower_log_evidence: Of the alternative, its errors taken off.
        largest_log_likelihood: Of the null, whatever its parameters: an upper bound.

    Example:
        >>> value = sgais.decisions.EValue(100, 4.0, -140.0, -144.0)
        >>> bool(value.log_e > np.log(1 / 0.05))  # large enough to reject at 5 percent, whenever one looked
        True
    """

    num_rows: int
    log_e: float
    lower_log_evidence: float
    largest_log_likelihood: float


class Decision(NamedTuple):
    """What may be said against a null at a level.

    Attributes:
        verdict: "reject" or "not yet".
        row: Rows seen when the null was first rejected; None if it was not.
        log_e: Now; it may have fallen again, which takes nothing back.
        level: The largest probability with which a true null is ever rejected.
        null: Its name.
        num_rows: Rows seen so far.

    Example:
        >>> print(sgais.decisions.Decision("not yet", None, 1.5, 0.05, "no effect", 300))
        not yet against 'no effect' at level 0.05: log e = 1.50, 3.00 needed
    """

    verdict: str
    row: int | None
    log_e: float
    level: float
    null: str
    num_rows: int

    def __str__(self) -> str:
        if self.row is not None:
            since = f"since row {self.row:,} (log e = {self.log_e:.2f} now)"
            return f"reject {self.null!r} at level {self.level:g}, {since}"
        needed = -np.log(self.level)
        return f"not yet against {self.null!r} at level {self.level:g}: log e = {self.log_e:.2f}, {needed:.2f} needed"


def lower_bound(log_evidence: float, standard_error: float, kernel_bias: float) -> float:
    """A log Z with its errors taken off; -inf where they are not known."""
    lower = log_evidence - ERRORS_OFF * standard_error - abs(kernel_bias)
    return lower if np.isfinite(lower) else -float("inf")


def lower_bound_of(record: EvidenceRecord) -> float:
    """The log Z of a record with its errors taken off."""
    return lower_bound(record.log_evidence, record.standard_error, record.kernel_bias)


def require_level(level: object) -> float:
    """Check a level."""
    require(is_number(level) and 0 < level < 1, "level", "lie between 0 and 1", level)  # type: ignore[operator]
    return float(level)  # type: ignore[arg-type]


class EValues:
    """An e-process so far, as a table of numbers."""

    def __init__(self) -> None:
        self._table = GrowingTable(NUMBERS)

    def append(self, num_rows: int, lower_log_evidence: float, largest_log_likelihood: float) -> EValue:
        """Add a chunk."""
        is_known = np.isfinite(lower_log_evidence) and np.isfinite(largest_log_likelihood)
        log_e = lower_log_evidence - largest_log_likelihood if is_known else -np.inf
        value = EValue(num_rows, float(log_e), float(lower_log_evidence), float(largest_log_likelihood))
        self._table.append(value)
        return value

    def decide(self, level: float, null: str) -> Decision:
        """What may be said against the null."""
        columns, threshold = self._table.columns(), -np.log(require_level(level))
        crossed = np.flatnonzero(columns["log_e"] >= threshold)
        row = int(columns["num_rows"][crossed[0]]) if len(crossed) else None
        last = self.last
        log_e, num_rows = (0.0, 0) if last is None else (last.log_e, last.num_rows)
        return Decision("not yet" if row is None else "reject", row, log_e, level, null, num_rows)

    @property
    def last(self) -> EValue | None:
        """The newest point."""
        return EValue(**self._table[len(self) - 1]) if len(self) else None

    def columns(self) -> dict[str, np.ndarray]:
        """All points, column by column."""
        return self._table.columns()

    def state(self) -> dict[str, Any]:
        """For a checkpoint."""
        return self._table.columns()

    @classmethod
    def restored(cls, state: dict[str, Any]) -> "EValues":
        """The e-process that had this state."""
        values = cls()
        values._table.extend(state)
        return values

    def __len__(self) -> int:
        return len(self._table)

    def __iter__(self) -> Any:
        return (EValue(**self._table[number]) for number in range(len(self)))
