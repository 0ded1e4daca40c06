"""The largest log-likelihood that a model reaches on all rows so far, bounded from above.

An expansion at a position takes in each chunk exactly. While it says that the maximum is near, it bounds it; when the
maximum has moved on, which it does ever more slowly, Newton's method climbs after it on all rows. These come to some
ten passes over the rows in all, however long the stream.
"""

from typing import Any, Protocol

import numpy as np

from sgais.approximation.taylor import Surrogate, with_rows
from sgais.compute.blocks import slabs
from sgais.compute.likelihood import log_likelihoods, slabs_for_derivatives
from sgais.compute.prior_draws import sample_prior
from sgais.decisions.ascent import Step, newton_step
from sgais.fields import Chunk
from sgais.models.base import Model, real_dtype

PART_ROWS = 32_768  # read at a time
DUE = 0.1  # squared decrement at which the expansion is moved after the maximum
CLOSE = 1e-3  # squared decrement at which a climb has arrived
MOST_STEPS, MOST_HALVINGS = 40, 12
FIRST_DRAWS, CLIMBS, SCORED_ROWS = 256, 3, 4096  # of the prior, the best of which are climbed from
GROWTH = 1.2  # of the rows, before a maximum that was not found is looked for again
ROUNDING = 1e-7  # of a log-likelihood that is a sum in float32 within blocks
SAVED = ("anchor", "value", "gradient", "hessian")  # of an expansion
PURPOSE = 2503  # of random numbers, unlike those that estimators give their draws


class AllRows(Protocol):
    """The rows of a stream, from the first."""

    def between(self, start: int, end: int) -> Chunk:
        """The rows from `start` to before `end`."""


class MaximumLikelihood:
    """An upper bound of a model's log-likelihood over all its parameters, chunk by chunk.

    Where there is no maximum, as with fewer rows than a scale needs, or none is found, the bound is infinite: nobody
    can claim anything against the model then.

    Args:
        model: Its prior only says where to look.
        seed: Of the draws to begin from.
    """

    def __init__(self, model: Model, seed: int = 0) -> None:
        self._model, self._seed = model, seed
        self._expansion: Surrogate | None = None
        self.num_rows = 0
        self._look_at = 1  # rows at which it is looked for again if it was not found
        self._search_at = 1  # rows at which other starts are tried
        self.upper_bound = 0.0

    @property
    def is_found(self) -> bool:
        """Whether there is a finite bound."""
        return bool(np.isfinite(self.upper_bound))

    @property
    def position(self) -> np.ndarray | None:
        """Near the maximum, in R^d."""
        return None if self._expansion is None else self._expansion.anchor

    def take_in(self, rows: AllRows, end: int) -> None:
        """Bring the bound up to `end` rows; all of it or nothing."""
        before = dict(vars(self))
        try:
            self._take_in(rows, end)
        except BaseException:
            vars(self).update(before)
            raise

    def _take_in(self, rows: AllRows, end: int) -> None:
        chunk, self.num_rows = rows.between(self.num_rows, end), end
        if self._expansion is not None:
            self._expansion = with_rows(self._model, self._expansion, slabs_for_derivatives(self._model, chunk))
        step = None if self._expansion is None else newton_step(self._expansion)
        is_lost = step is None or not step.is_near_maximum
        if end >= self._search_at or (is_lost and end >= self._look_at):
            step = self._search(rows)
        elif step is not None and step.squared_decrement > DUE and not is_lost:
            assert self._expansion is not None, "there is a step from it"
            step = self._settle(self._climbed(self._expansion, rows, end))
        self.upper_bound = self._bound(step)

    def _bound(self, step: Step | None) -> float:
        if step is None or not step.is_near_maximum:
            return float(np.inf)
        assert self._expansion is not None, "there is a step from it"
        value = self._expansion.value
        return value + step.squared_decrement + ROUNDING * abs(value)

    def _search(self, rows: AllRows) -> Step | None:
        """Climb from several positions, and from where we are, and stay at the highest end."""
        some = min(self.num_rows, SCORED_ROWS)
        ends = [self._climbed(self._expanded(start, rows, some), rows, some) for start in self._starts(rows, some)]
        positions = [end.anchor for end in ends if end.value == max(one.value for one in ends)][:1]
        if self._expansion is not None:
            positions.append(self._expansion.anchor)
        everywhere = [self._expanded(position, rows, self.num_rows) for position in positions]
        climbed = [self._climbed(expansion, rows, self.num_rows) for expansion in everywhere]
        known = [expansion for expansion in climbed if newton_step(expansion) is not None]
        self._search_at = max(self._search_at, 2 * self.num_rows)
        return self._settle(max(known, key=lambda expansion: expansion.value, default=None))

    def _settle(self, expansion: Surrogate | None) -> Step | None:
        self._expansion = expansion
        step = None if expansion is None else newton_step(expansion)
        if step is None or not step.is_near_maximum:
            self._look_at = int(np.ceil(GROWTH * self.num_rows))
        return step

    def _starts(self, rows: AllRows, num_rows: int) -> list[np.ndarray]:
        """The best of some draws from the prior."""
        drawn = sample_prior(self._model, FIRST_DRAWS, self._seed, PURPOSE, self.num_rows)
        found = log_likelihoods(self._model, drawn, slabs(rows.between(0, num_rows)))
        heights = np.nan_to_num(found, nan=-np.inf, posinf=-np.inf)
        return [drawn[number] for number in np.argsort(-heights)[:CLIMBS]]

    def _climbed(self, expansion: Surrogate, rows: AllRows, num_rows: int) -> Surrogate:
        """Up by Newton steps, each shortened until it leads higher."""
        for _ in range(MOST_STEPS):
            step = newton_step(expansion)
            if step is None or (step.is_concave and step.squared_decrement < CLOSE):
                break
            lengths = 0.5 ** np.arange(MOST_HALVINGS)
            tried = (self._expanded(expansion.anchor + length * step.direction, rows, num_rows) for length in lengths)
            higher = next((one for one in tried if one.value > expansion.value), None)
            if higher is None:
                break
            expansion = higher
        return expansion

    def _expanded(self, position: np.ndarray, rows: AllRows, num_rows: int) -> Surrogate:
        """The log-likelihood of the first rows to second order at a position."""
        anchor = np.asarray(position, real_dtype()).astype(np.float64)
        dimension = len(anchor)
        expansion = Surrogate(anchor, 0.0, np.zeros(dimension), np.zeros((dimension, dimension)))
        for start in range(0, num_rows, PART_ROWS):
            part = rows.between(start, min(start + PART_ROWS, num_rows))
            expansion = with_rows(self._model, expansion, slabs_for_derivatives(self._model, part))
        return expansion

    def state(self) -> dict[str, Any]:
        """Everything that the future depends on, for a checkpoint."""
        expansion = self._expansion
        return {
            "seed": self._seed,
            "num_rows": self.num_rows,
            "look_at": self._look_at,
            "search_at": self._search_at,
            "upper_bound": self.upper_bound,
            "expansion": None if expansion is None else [getattr(expansion, name) for name in SAVED],
        }

    @classmethod
    def restored(cls, model: Model, state: dict[str, Any]) -> "MaximumLikelihood":
        """The maximum that had this state."""
        maximum = cls(model, state["seed"])
        maximum.num_rows, maximum.upper_bound = state["num_rows"], state["upper_bound"]
        maximum._look_at, maximum._search_at = state["look_at"], state["search_at"]
        maximum._expansion = None if state["expansion"] is None else Surrogate(*state["expansion"])
        return maximum
