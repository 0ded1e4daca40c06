"""How much faster is the default than the fastest peer that is right? And is that as much as was asked for?"""

from typing import NamedTuple

from benchmarks.peers.lines import Cell, Line, cells
from benchmarks.peers.methods import DEFAULT, METHODS
from benchmarks.peers.outcome import NOT_BEGUN, OUT_OF_TIME, TOO_SLOW
from benchmarks.problems import PROBLEMS

LARGEST_ERROR = 3.0  # nats up to which a peer counts as right


class Asked(NamedTuple):
    """A speed-up that must hold: of the default on `rows` against peers on `peer_rows`."""

    problem: str
    rows: int
    peer_rows: int
    factor: float


ASKED = (
    Asked("linear", 1_000_000, 1_000_000, 100.0),
    Asked("logistic", 100_000, 100_000, 100.0),
    Asked("mixture", 100_000, 100_000, 50.0),
    Asked("logistic", 1_000_000, 100_000, 1.0),
    Asked("mixture", 1_000_000, 100_000, 1.0),
)


class Speedup(NamedTuple):
    """What was measured.

    Attributes:
        ours: Median seconds of the default.
        error: Median size of its errors, in nats.
        peer: The fastest that is right; empty if none came to its end in time.
        peer_seconds: Its median; the time limit where there is none.
    """

    ours: float
    error: float
    peer: str
    peer_seconds: float

    @property
    def ratio(self) -> float:
        """How many times faster we are; at least, where no peer came to its end."""
        return self.peer_seconds / self.ours

    @property
    def is_bound(self) -> bool:
        """Whether the true ratio may be larger."""
        return not self.peer


def speedup(lines: list[Line], problem: str, rows: int, peer_rows: int) -> Speedup | None:
    """Of the default over the fastest peer within `LARGEST_ERROR`.

    None where that cannot be said: the default has no result, or no peer is right though none was stopped.
    """
    found = [cell for cell in cells(lines) if cell.problem == problem]
    ours = next((cell for cell in found if (cell.method, cell.rows) == (DEFAULT, rows) and cell.is_complete), None)
    peers = [cell for cell in found if METHODS[cell.method].is_peer and cell.rows == peer_rows]
    if ours is None:
        return None
    right = [cell for cell in peers if cell.is_complete and cell.error <= LARGEST_ERROR]
    if right:
        fastest = min(right, key=lambda cell: cell.seconds)
        return Speedup(ours.seconds, ours.error, fastest.method, fastest.seconds)
    limits = [cell.median("limit") for cell in peers if _was_too_slow(cell)]
    return Speedup(ours.seconds, ours.error, "", min(limits)) if limits else None


def holds(asked: Asked, measured: Speedup | None) -> bool:
    """Whether the default is as accurate as it promises and as much faster as was asked."""
    if measured is None:
        return False
    return measured.error <= PROBLEMS[asked.problem].target and measured.ratio >= asked.factor


def _was_too_slow(cell: Cell) -> bool:
    """Stopped at the limit, here or with fewer rows already, or sure to be."""
    outcome = cell.lines[0].outcome
    return outcome.ending == OUT_OF_TIME or (
        outcome.ending == NOT_BEGUN and outcome.words.startswith((OUT_OF_TIME, TOO_SLOW))
    )
