"""The quadratic phase of SGAIS: particles ride on quadratic surrogates of the posterior, one for each mode.

A chunk costs its derivatives at the anchors, no more: the surrogates' integrals give its point of the curve. Each
time the data have grown by a share, the particles follow by the affine map from the old surrogate to the new one, and
are weighed: what the posterior has beyond second order, from a sample of rows, is all that is left to their weights.
They are moved only when these have become uneven.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from sgais.approximation import remainder
from sgais.approximation.modes.newton import Mode
from sgais.approximation.modes.unseen_modes import Found
from sgais.approximation.remainder import Steps
from sgais.approximation.taylor import (
    Normalised,
    Surrogate,
    at_anchor,
    basis_for,
    shifted,
    transport,
    with_rows,
)
from sgais.compute.label_symmetry import num_images
from sgais.compute.likelihood import slabs_for_derivatives
from sgais.estimators.default import policy
from sgais.estimators.default.context import UpdateContext
from sgais.estimators.default.mode_bank import alike
from sgais.estimators.default.phases import quadratic_draws
from sgais.estimators.default.phases.quadratic_draws import Sampled
from sgais.fields import Chunk
from sgais.models.base import Model, real_dtype
from sgais.smc.islands import Islands, have_diverged, migrate, resample

ROWS_AT_ONCE = 65536  # in passes over all rows


class QuadraticPhase(NamedTuple):
    """The surrogates, and how the particles relate to them.

    Attributes:
        surrogates: One per mode, with all rows so far.
        then: The same, with the rows for which the particles stand.
        modes: The mode of each particle.
        num_rows_then: Rows for which the particles stand.
        num_rows_anchored: Rows at which the anchors were set.
        growth: Rows until the next weighing, as a share of those then.
        batch_size: Rows per mini-batch of a move.
        step_size: Of the moves.
        temperature: Of the last move; 1 if it was exact.
        drift: Nats by which the last weighings have set right what the surrogates alone said, when the rows had grown
            by a factor e; it grows as a random walk does.
    """

    surrogates: tuple[Surrogate, ...]
    then: tuple[Surrogate, ...]
    modes: np.ndarray
    num_rows_then: int
    num_rows_anchored: int
    growth: float
    batch_size: int
    step_size: float
    temperature: float
    drift: float = np.inf

    @property
    def next_weighing(self) -> int:
        """The number of rows at which the particles are to be weighed."""
        return self.num_rows_then + max(1, int(self.growth * self.num_rows_then))


def start(context: UpdateContext, anchors: np.ndarray, end: int) -> QuadraticPhase | None:
    """Surrogates at given modes (modes, d), no particles yet; None where none of them has a maximum."""
    surrogates = _with_maximum(_in_its_basis(context, position, end) for position in anchors)
    if not surrogates:
        return None
    return QuadraticPhase(
        surrogates,
        surrogates,
        np.zeros(0, int),
        end,
        end,
        0.25,
        context.config.batch_size,
        context.config.kernel.step_size,
        1.0,
    )


def with_modes(context: UpdateContext, phase: QuadraticPhase, anchors: np.ndarray) -> QuadraticPhase:
    """The same with surrogates of more modes (modes, d), to which no particle belongs yet."""
    more = _with_maximum(_in_its_basis(context, position, phase.num_rows_then) for position in anchors)
    return phase._replace(surrogates=phase.surrogates + more, then=phase.then + more)


def sampled(
    context: UpdateContext, phase: QuadraticPhase, fewest: int = 0, most_rounds: int = quadratic_draws.MOST_ROUNDS
) -> Sampled | None:
    """Log Z of the rows for which the particles stand, outright, from this many draws at least."""
    then = normalised(phase.then)
    assert then is not None
    return quadratic_draws.draw(context, phase.then, then, phase.num_rows_then, fewest, most_rounds)


def sampled_near(context: UpdateContext, phase: QuadraticPhase, fewest: int) -> tuple[QuadraticPhase, Sampled | None]:
    """The same, with anchors renewed where a few draws show that the old ones lie too far from the modes by now."""
    if context.rows.is_whole and phase.num_rows_then > policy.OLD_ANCHOR * phase.num_rows_anchored:
        first = sampled(context, phase, fewest, most_rounds=quadratic_draws.FIRST_ROUNDS)
        if first is not None and first.estimate.standard_error <= policy.GOOD_DRAWS_ERROR:
            return phase, first
        phase = reanchor(context, phase) or phase
    return phase, sampled(context, phase, fewest)


def known_modes(model: Model, phase: QuadraticPhase) -> Found:
    """The surrogates as modes that have been found."""
    then = normalised(phase.then)
    assert then is not None
    modes = tuple(
        Mode(one.gaussian.centre, one.log_integral - one.gaussian.log_volume, one.gaussian.precision, True, 0)
        for one in then
    )
    log_evidences = np.array([one.log_integral for one in then]) + np.log(num_images(model))
    order = np.argsort(-log_evidences)
    return Found(tuple(modes[number] for number in order), log_evidences[order], 0, 0)


def joined(context: UpdateContext, phase: QuadraticPhase, islands: Islands) -> tuple[QuadraticPhase, Islands] | None:
    """Particles that belong to the surrogates, each in the labelling nearest to its own; None where some do not.

    Or where the log posterior has so much beyond second order that surrogates are of no use yet.
    """
    anchors, gaussians = centres(phase), [one.gaussian for one in normalised(phase.then) or []]
    positions = alike(context.model, islands.all_positions, anchors[0])
    distances = np.array([gaussian.distances(positions) for gaussian in gaussians])
    if not (distances.min(axis=0) < np.sqrt(context.model.dimension) + policy.REACH).all():
        return None
    phase, islands = phase._replace(modes=distances.argmin(axis=0)), islands.with_positions(positions)
    steps = from_anchors(phase, islands.all_positions)
    drawn = context.rows.sample(context.keys.generator(), policy.ALL_ROWS, 0, phase.num_rows_then)
    remainders = remainder.of_rows(context.model, steps, drawn, phase.num_rows_then)[0] + remainder.of_prior(
        context.model, steps
    )
    low, high = np.quantile(remainders, [0.16, 0.84])
    return (phase, islands) if high - low < 2 * policy.LARGEST_REMAINDER else None


def centres(phase: QuadraticPhase) -> np.ndarray:
    """The centres of the surrogates, shape (modes, d)."""
    then = normalised(phase.then)
    assert then is not None
    return np.array([one.gaussian.centre for one in then])


def add(model: Model, phase: QuadraticPhase, rows: Chunk) -> QuadraticPhase:
    """Add rows to the surrogates; the particles stay behind."""
    piece = slabs_for_derivatives(model, rows)
    return phase._replace(surrogates=tuple(with_rows(model, surrogate, piece) for surrogate in phase.surrogates))


def log_growths(phase: QuadraticPhase) -> np.ndarray | None:
    """By how much each particle's share of the evidence has grown since then; None if a surrogate broke down."""
    now, then = normalised(phase.surrogates), normalised(phase.then)
    if now is None or then is None:
        return None
    growths = np.array([new.log_integral - old.log_integral for new, old in zip(now, then, strict=True)])
    return growths[phase.modes]


def has_strayed(phase: QuadraticPhase) -> bool:
    """Whether a surrogate's centre has gone farther from its anchor than a doubling of the data explains."""
    for surrogate in phase.surrogates:
        now = surrogate.normalised
        if now is None:
            return True
        far = now.gaussian.distances(surrogate.anchor[None])[0]
        if far**2 > 4 * len(surrogate.anchor) + 16:
            return True
    return False


def unweighed_error(phase: QuadraticPhase, num_rows: int) -> float:
    """The error of log Z, in nats, of rows that only the surrogates have seen."""
    growth = np.log(num_rows / phase.num_rows_then)
    return float(phase.drift * np.sqrt(growth)) if growth > 0 else 0.0


def is_behind(phase: QuadraticPhase, num_rows: int) -> bool:
    """Whether the particles have to be weighed for a point of the curve: where surrogates alone say too little."""
    if unweighed_error(phase, num_rows) > policy.LARGEST_DRIFT:
        return True
    now, then = normalised(phase.surrogates), normalised(phase.then)
    if now is None or then is None:
        return True
    moved = (new.gaussian.distances(old.gaussian.centre[None])[0] for new, old in zip(now, then, strict=True))
    return num_rows <= policy.ALL_ROWS and max(moved) > policy.MOVED


def positions_now(phase: QuadraticPhase, islands: Islands) -> np.ndarray:
    """Where the particles are once they have followed their surrogates, shape (all particles, d)."""
    now, then = normalised(phase.surrogates), normalised(phase.then)
    assert now is not None
    assert then is not None
    return followed(phase, then, now, islands.all_positions)


def rolled_back(phase: QuadraticPhase) -> QuadraticPhase | None:
    """As at the last weighing, with the next one in half the time; None if it cannot come any sooner."""
    if phase.growth <= policy.GROWTHS[0]:
        return None
    return phase._replace(surrogates=phase.then, growth=max(0.5 * phase.growth, policy.GROWTHS[0]))


def survivors(
    phase: QuadraticPhase, islands: Islands, generator: np.random.Generator
) -> tuple[QuadraticPhase, Islands]:
    """Resample, or migrate where the islands have diverged."""
    islands, chosen = (migrate if have_diverged(islands) else resample)(islands, generator)
    return phase._replace(modes=phase.modes[chosen]), islands


def reanchor(context: UpdateContext, phase: QuadraticPhase) -> QuadraticPhase | None:
    """Anchors at the surrogates' centres; modes without particles that no longer matter are dropped."""
    now = normalised(phase.surrogates)
    assert now is not None
    log_integrals = np.array([one.log_integral for one in now])
    matters = log_integrals > log_integrals.max() - policy.MATTERS
    used = np.union1d(np.unique(phase.modes), np.flatnonzero(matters))
    surrogates = tuple(
        _at(context, phase.surrogates[mode], now[mode].gaussian.centre, phase.num_rows_then) for mode in used
    )
    if any(surrogate.normalised is None for surrogate in surrogates):
        return None
    modes = np.searchsorted(used, phase.modes)
    return phase._replace(surrogates=surrogates, then=surrogates, modes=modes, num_rows_anchored=phase.num_rows_then)


def normalised(surrogates: tuple[Surrogate, ...]) -> list[Normalised] | None:
    """The Gaussians that the surrogates are; None if one of them has no maximum."""
    found = [surrogate.normalised for surrogate in surrogates]
    return None if any(one is None for one in found) else [one for one in found if one is not None]


def followed(phase: QuadraticPhase, then: list[Normalised], now: list[Normalised], positions: np.ndarray) -> np.ndarray:
    """Positions that were right then under the affine maps to now, in numbers that the device can hold."""
    followed = positions.copy()
    for mode, (old, new) in enumerate(zip(then, now, strict=True)):
        mine = phase.modes == mode
        followed[mine] = transport(followed[mine], old.gaussian, new.gaussian)
    return followed.astype(real_dtype()).astype(np.float64)


def from_anchors(phase: QuadraticPhase, positions: np.ndarray) -> Steps:
    """From each particle's anchor to its position."""
    return remainder.from_anchors(phase.surrogates, phase.modes, positions)


def _with_maximum(surrogates: Iterable[Surrogate]) -> tuple[Surrogate, ...]:
    return tuple(surrogate for surrogate in surrogates if surrogate.normalised is not None)


def _at(context: UpdateContext, surrogate: Surrogate, position: np.ndarray, end: int) -> Surrogate:
    """The surrogate at another anchor: by a pass over all rows, or from a sample where these are not kept."""
    if context.rows.is_whole:
        return _of_all_rows(context, position, end, basis_for(-surrogate.hessian))
    return shifted(
        context.model,
        surrogate,
        position,
        context.rows.sample(context.keys.generator(), policy.LARGEST_SAMPLE, 0, end),
        end,
    )


def _in_its_basis(context: UpdateContext, position: np.ndarray, end: int) -> Surrogate:
    """A first surrogate there, in coordinates that keep its digits."""
    surrogate = _of_all_rows(context, position, end)
    now = surrogate.normalised
    basis = None if now is None else basis_for(now.gaussian.precision)
    return surrogate if basis is None else _of_all_rows(context, position, end, basis)


def _of_all_rows(context: UpdateContext, position: np.ndarray, end: int, basis: np.ndarray | None = None) -> Surrogate:
    surrogate = at_anchor(context.model, position, basis)
    for first in range(0, end, ROWS_AT_ONCE):
        some = context.rows.between(first, min(end, first + ROWS_AT_ONCE))
        surrogate = with_rows(context.model, surrogate, slabs_for_derivatives(context.model, some))
    return surrogate
