"""The search for the modes of a posterior: many ascents on few rows, then a few on all of them.

Ascents begin at draws from the prior, at the model's own guesses from the rows, at given positions, and at other
arrangements of the exchangeable components of modes that are known. There are more of them until the modes that hold
the evidence have each been found in two ways that knew nothing of each other.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from sgais.approximation.log_posterior import Posterior
from sgais.approximation.modes.merging import HOPELESS, by_evidence, find, log_evidence, merge, worth_keeping
from sgais.approximation.modes.newton import Mode, climb, climb_all
from sgais.approximation.modes.splitting import perturbed
from sgais.approximation.modes.starts import starts
from sgais.approximation.modes.unseen_modes import Found
from sgais.models.base import Model
from sgais.progress import Deadline

FIRST_ROWS = 2048  # on which searches begin
GROWTH = 32  # of the number of blocks from one level to the next
PARENTS = 3  # modes whose components are rearranged in each round, and one more whenever there is a new best
MOST_IN_A_ROW = 3  # new bests
SPLITS = 4  # the purpose of random numbers


class Limits(NamedTuple):
    """How far a search goes.

    Attributes:
        num_starts: Ascents of a round, from the prior or from guesses.
        max_rounds: Rounds of starts, of which there are more while a mode that matters was found only once.
        num_splits: Ascents from rearranged components, of each mode that is rearranged; 0 for none.
        max_steps: Newton steps per ascent.
    """

    num_starts: int = 16
    max_rounds: int = 4
    num_splits: int = 12
    max_steps: int = 100


def search(
    posterior: Posterior,
    limits: Limits,
    seed: int,
    deadline: Deadline,
    given: Sequence[np.ndarray] = (),
    known: Sequence[Mode] = (),
) -> Found:
    """The modes of a posterior, see `searching`."""
    *_, found = searching(posterior, limits, seed, deadline, given, known)
    return found


def searching(
    posterior: Posterior,
    limits: Limits,
    seed: int,
    deadline: Deadline,
    given: Sequence[np.ndarray] = (),
    known: Sequence[Mode] = (),
) -> Iterator[Found]:
    """What is known of the modes on all rows after each of them, the probably best first.

    The rows are assumed to be in random order: the first of them stand for all.

    Args:
        posterior: Of all rows.
        limits: How far to go.
        seed: Determines the starts.
        deadline: When to give up.
        given: Positions (d,) from which to ascend as well. They may stem from one source (particles), so that a mode
            that several of them lead to counts as found once.
        known: Modes on all rows, from elsewhere, which are counted among those that are found.
    """
    levels = _levels(posterior)
    tally = _Tally(posterior.of_first(levels[0]), limits, seed, deadline)
    tally.explore(given)
    modes = worth_keeping(posterior.model, tally.modes)
    for level in levels[1:-1]:
        modes = _refine(posterior.of_first(level), modes, limits, deadline)
    polished = list(known)
    yield _found(posterior.model, polished, tally)
    for mode in modes:
        on_all_rows = mode if len(levels) == 1 else _again(posterior, mode, limits, deadline)
        polished = merge(posterior.model, polished, on_all_rows)
        yield _found(posterior.model, polished, tally)


class _Tally:
    """The modes on few rows, and how many searches there were."""

    def __init__(self, posterior: Posterior, limits: Limits, seed: int, deadline: Deadline) -> None:
        self.modes: list[Mode] = []
        self.num_searches = 0
        self._posterior, self._limits, self._seed, self._deadline = posterior, limits, seed, deadline
        self._parents: list[Mode] = []

    @property
    def num_singletons(self) -> int:
        """Modes that were hit once."""
        return sum(mode.is_converged and mode.num_starts == 1 for mode in self.modes)

    def explore(self, given: Sequence[np.ndarray]) -> None:
        """Search in rounds until the modes that matter are confirmed."""
        if len(given):
            self._add_kin(self._climb(np.asarray(given)))
        for number in range(self._limits.max_rounds):
            numbers = range(number * self._limits.num_starts, (number + 1) * self._limits.num_starts)
            for mode in self._climb(starts(self._posterior, self._seed, numbers)):
                self._add(mode)
            self._rearrange()
            if self._is_confirmed():
                return

    def _rearrange(self) -> None:
        """Search from the best modes with their components rearranged, and again from a new best."""
        if self._limits.num_splits == 0 or self._posterior.model.num_labels == 1:
            return
        for parent in self._ranked(is_fresh=True)[:PARENTS]:
            self._split(parent)
        for _ in range(MOST_IN_A_ROW):
            for parent in self._ranked(is_fresh=False)[:1]:
                if not self._was_split(parent):
                    self._split(parent)

    def _split(self, parent: Mode) -> None:
        generator = np.random.default_rng([self._seed, SPLITS, len(self._parents)])
        self._parents.append(parent)
        children = perturbed(self._posterior.model, parent.position, self._limits.num_splits, generator)
        self._add_kin(self._climb(children), parent)

    def _was_split(self, mode: Mode) -> bool:
        return find(self._posterior.model, self._parents, mode) is not None

    def _ranked(self, is_fresh: bool) -> list[Mode]:
        """The converged modes by evidence, of those that were not split yet or of all."""
        return by_evidence(
            [mode for mode in self.modes if mode.is_converged and not (is_fresh and self._was_split(mode))]
        )

    def _climb(self, positions: np.ndarray) -> list[Mode]:
        return climb_all(self._posterior, positions, self._limits.max_steps, self._deadline) if len(positions) else []

    def _add(self, mode: Mode) -> None:
        self.modes = merge(self._posterior.model, self.modes, mode)
        self.num_searches += 1

    def _add_kin(self, modes: Sequence[Mode], parent: Mode | None = None) -> None:
        """Add modes that were found in one way: each counts once, and that a child falls back does not count."""
        model = self._posterior.model
        kin: list[Mode] = []
        for mode in modes:
            kin = merge(model, kin, mode)
        for mode in kin:
            if mode.is_converged and (parent is None or find(model, [parent], mode) is None):
                self._add(mode._replace(num_starts=1))

    def _is_confirmed(self) -> bool:
        found = _found(self._posterior.model, self.modes, self)
        return found.doubt is None and not found.are_modes_many


def _found(model: Model, modes: Sequence[Mode], tally: _Tally) -> Found:
    kept = worth_keeping(model, modes)
    evidences = np.array([log_evidence(model, mode) for mode in kept])
    return Found(tuple(kept), evidences, tally.num_searches, tally.num_singletons)


def _refine(posterior: Posterior, modes: Sequence[Mode], limits: Limits, deadline: Deadline) -> list[Mode]:
    refined: list[Mode] = []
    for mode in modes:
        refined = merge(posterior.model, refined, _again(posterior, mode, limits, deadline))
    # Of an ascent that has not converged on some of the rows all of them will tell.
    top = max(mode.log_posterior for mode in refined)
    waiting = [mode for mode in refined if not mode.is_converged and mode.log_posterior > top - HOPELESS]
    converged = [mode for mode in refined if mode.is_converged]
    return [*waiting, *(worth_keeping(posterior.model, converged) if converged else [])] or refined[:1]


def _again(posterior: Posterior, mode: Mode, limits: Limits, deadline: Deadline) -> Mode:
    found = climb(posterior, mode.position, limits.max_steps, deadline)
    return found._replace(num_starts=mode.num_starts, num_steps=mode.num_steps + found.num_steps)


def _levels(posterior: Posterior) -> list[int]:
    """Numbers of blocks that grow to all of them."""
    num_blocks = posterior.num_blocks
    levels = [max(1, FIRST_ROWS // posterior.block_rows)]
    while levels[-1] * GROWTH < num_blocks:
        levels.append(levels[-1] * GROWTH)
    return [*levels, num_blocks] if num_blocks > levels[0] else [num_blocks]
