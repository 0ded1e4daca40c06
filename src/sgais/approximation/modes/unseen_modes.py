"""What a search for modes has found, and what it says of modes that it may have missed."""

from typing import NamedTuple

import numpy as np

from sgais.approximation.modes.newton import Mode

CARRIED = 0.9  # of the evidence, by modes that must not be there by luck
ENOUGH_HITS = 2  # searches that knew nothing of each other: what was found twice was probably not found by luck
# Where so many searches end in a new mode, one that is as hard to find as the best and better than it is missed with a
# probability of about exp(-hits of the best), so that a third hit is asked for.
MANY_UNSEEN, HITS_AMONG_MANY = 0.25, 3


class Found(NamedTuple):
    """Modes and how often they were hit.

    Attributes:
        modes: Those worth keeping, by evidence, the best first; if none converged, the best of the others.
        log_evidences: Laplace's approximation for each of them, relabelled images included.
        num_searches: Searches that knew nothing of each other, wherever they ended.
        num_singletons: Modes that one of them hit and no other, on the rows on which the search began.
    """

    modes: tuple[Mode, ...]
    log_evidences: np.ndarray
    num_searches: int
    num_singletons: int

    @property
    def log_evidence(self) -> float:
        """Laplace's approximation of all modes together; -inf if none converged."""
        converged = [value for mode, value in zip(self.modes, self.log_evidences, strict=True) if mode.is_converged]
        return float(np.logaddexp.reduce([-np.inf, *converged]))

    @property
    def unseen_share(self) -> float:
        """Good and Turing's estimate of how probably one more search would end in a mode that is not known yet.

        Of all modes, also of those that are too low to matter.
        """
        return self.num_singletons / max(self.num_searches, 1)

    @property
    def doubt_in_nats(self) -> float:
        """By how much log Z may be too low, if unseen modes hold as much evidence as those that were hit once.

        Good and Turing's estimate again, of evidence instead of searches.
        """
        shares = np.exp(self.log_evidences - np.logaddexp.reduce([-np.inf, *self.log_evidences]))
        once = [share for mode, share in zip(self.modes, shares, strict=True) if mode.num_starts == 1]
        return float(np.log1p(np.sum(once)))

    @property
    def carriers(self) -> tuple[Mode, ...]:
        """The fewest modes that hold nine tenths of the evidence."""
        return tuple(self.modes[: num_carriers(self.log_evidences)])

    @property
    def are_modes_many(self) -> bool:
        """Whether so many searches end in new modes that more of them are worth their price."""
        return self.unseen_share >= MANY_UNSEEN

    @property
    def doubt(self) -> str | None:
        """Why there may be better modes than these, in words, or None."""
        if not self.modes or not self.modes[0].is_converged:
            return "no Newton ascent converged to a mode with a positive definite Hessian"
        hits = min(mode.num_starts for mode in self.carriers)
        if hits >= (HITS_AMONG_MANY if self.are_modes_many else ENOUGH_HITS):
            return None
        known = f"{self.unseen_share:.0%} of {self.num_searches} searches ended where no other did"
        times = "one start" if hits == 1 else f"{hits} starts"
        which = "the best mode" if hits == self.modes[0].num_starts else "a mode that matters"
        return f"only {times} found {which}, there may be better ones ({known})"


def num_carriers(log_evidences: np.ndarray) -> int:
    """How many modes, of evidences in falling order, it takes to hold nine tenths of it."""
    shares = np.exp(log_evidences - np.logaddexp.reduce(log_evidences))
    return min(int(np.searchsorted(np.cumsum(shares), CARRIED)) + 1, len(shares))
