"""Nested sampling (Skilling 2006): the evidence as an integral of the likelihood over shrinking prior volumes.

`update` lets the worst live points die and replaces them by copies of survivors, moved within the contour of the
worst one's likelihood. The device does the moves, a batch at a time, compiled once for a model, a kernel and a
size of the data; the rest is NumPy in float64. Log-likelihoods are compared relative to those of the best live
point, block by block, so that a total of a million rows keeps its digits in float32.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from sgais.compute.blocks import Blocks, pack_whole
from sgais.compute.label_symmetry import LabelOrder, arranged, is_in_order
from sgais.compute.likelihood import block_sums, log_likelihoods, relative_to_reference
from sgais.compute.prior_draws import draw_prior
from sgais.compute.random_keys import jax_key, random_key
from sgais.errors import EstimationError, require
from sgais.estimators.nested.diagnostics import first_families, insertion_ranks
from sgais.estimators.nested.points import Points, join, part, sort
from sgais.estimators.nested.result import NestedResult, summary
from sgais.estimators.nested.state import NestedRecord, State, bury, empty
from sgais.fields import Chunk, num_rows
from sgais.kernels import constrained_sghmc, galilean
from sgais.kernels.constrained_sghmc import ConstrainedSGHMC
from sgais.kernels.galilean import Contour, Galilean
from sgais.models.base import Model, real_dtype
from sgais.progress import Progress, Report
from sgais.results.result import COMPLETE
from sgais.smc.annealing import log_mean_exp
from sgais.smc.weights import require_numbers

MAX_PRIOR_BATCHES = 1000  # of `num_live` draws each, in search of a prior draw that the data do not rule out
PARTIAL = "log Z is only what the dead and the present live points add up to, and too low"


@dataclass(frozen=True)
class NestedConfig:
    """The parameters of nested sampling.

    Attributes:
        num_live: Live points. The standard error falls with the square root of their number.
        num_replaced: Live points that die together in one iteration and are replaced in one batch of moves.
            Up to a fifth of `num_live` costs hardly any accuracy.
        kernel: The moves: `Galilean`, which leaves the prior within the contour exactly invariant, or the
            paper's `ConstrainedSGHMC`.
        stop_fraction: Stop when the live points add less than this fraction of the evidence so far.
        max_iterations: Stop after so many iterations, complete or not.
        max_seconds: Stop at the end of the iteration in which this time is up, complete or not.

    Example:
        >>> sgais.NestedConfig(num_live=200, num_replaced=40).num_live
        200
        >>> paper = sgais.NestedConfig.paper()
    """

    num_live: int = 400
    num_replaced: int = 80
    kernel: Galilean | ConstrainedSGHMC = field(default_factory=Galilean)
    stop_fraction: float = 0.01
    max_iterations: int | None = None
    max_seconds: float | None = None

    @classmethod
    def paper(cls, **changes: Any) -> "NestedConfig":
        """The published settings: two live points, one replaced at a time by 20 steps of SGHMC."""
        return cls(**{"num_live": 2, "num_replaced": 1, "kernel": ConstrainedSGHMC(), **changes})

    def __post_init__(self) -> None:
        whole = isinstance(self.num_live, int) and self.num_live >= 2
        require(whole, "num_live", "be a whole number of at least 2", self.num_live)
        require(
            isinstance(self.num_replaced, int) and 1 <= self.num_replaced < self.num_live,
            "num_replaced",
            f"be a whole number from 1 to less than num_live ({self.num_live})",
            self.num_replaced,
            "A fifth of the live points is a good choice.",
        )
        known = isinstance(self.kernel, Galilean | ConstrainedSGHMC)
        require(known, "kernel", "be a sgais.Galilean or a sgais.ConstrainedSGHMC", self.kernel)
        require(0 < self.stop_fraction < 1, "stop_fraction", "lie between 0 and 1", self.stop_fraction)
        for name in ("max_iterations", "max_seconds"):
            value = getattr(self, name)
            require(value is None or value > 0, name, "be None or positive", value)


def run(model: Model, chunk: Chunk, config: NestedConfig, seed: int, report: Report) -> NestedResult:
    """Nested sampling on a checked data set."""
    start = time.perf_counter()
    if isinstance(config.kernel, Galilean):
        config = replace(config, kernel=config.kernel.for_dimension(model.dimension))
    rows = num_rows(chunk)
    blocks = jax.device_put(pack_whole(chunk))
    state, status = empty(model), None
    try:
        state = init(model, config, seed, blocks)
        while status is None:
            if (status := _reason_to_stop(config, state, time.perf_counter() - start)) is None:
                state = update(model, config, seed, blocks, state)
                report(_progress(config, state, time.perf_counter() - start))
    except KeyboardInterrupt:
        status = f"interrupted after {len(state.records)} iterations; {PARTIAL}"
    return summary(model, state, status, rows, time.perf_counter() - start)


def init(model: Model, config: NestedConfig, seed: int, blocks: Blocks) -> State:
    """Live points from the prior; draws of likelihood zero die at once, and take their share of the volume along."""
    draws: list[Points] = []
    num_possible = 0
    while num_possible < config.num_live:
        if len(draws) == MAX_PRIOR_BATCHES:
            raise EstimationError(
                f"only {num_possible} of {len(draws) * config.num_live} draws from the prior have a likelihood above "
                "zero, fewer than there should be live points. Use a prior that agrees better with the data."
            )
        draws.append(_prior_points(model, config.num_live, random_key(seed, 0, len(draws)), blocks))
        num_possible += int(np.isfinite(draws[-1].log_likelihoods).sum())
    points = sort(join(*draws))
    possible = np.isfinite(points.log_likelihoods)
    state = empty(model)._replace(
        live=part(points, possible),
        step_size=config.kernel.step_size if isinstance(config.kernel, Galilean) else 1.0,
        num_evaluations=points.num_points,
    )
    return state if possible.all() else bury(state, part(points, ~possible), points.num_points)


def update(model: Model, config: NestedConfig, seed: int, blocks: Blocks, state: State) -> State:
    """One iteration. Pure: `state` stays as it is, whatever happens."""
    iteration = len(state.records) + 1
    generator = np.random.default_rng(random_key(seed, iteration, 0))
    num_dead = _choose_num_dead(config, state.live)
    dying, survivors = part(state.live, slice(num_dead)), part(state.live, slice(num_dead, None))
    threshold = float(dying.log_likelihoods[-1])

    survivors, order = _arranged(model, config, survivors, generator)
    num_new = max(config.num_live - survivors.num_points, 0)
    parents = generator.choice(survivors.num_points, num_new, replace=num_new > survivors.num_points)
    contour = _Bounds(threshold, state.step_size, _whitening(survivors.positions), order)
    new, infos = _replace(model, config, partial(random_key, seed, iteration), blocks, survivors, parents, contour)

    state = bury(state, dying, state.live.num_points)
    live = sort(join(survivors, new))
    acceptance = float(np.mean([info.acceptance for info in infos])) if infos else math.nan
    inside = float(np.mean([info.inside for info in infos])) if infos else math.nan
    record = NestedRecord(
        log_prior_volume=state.log_prior_volume,
        log_likelihood=threshold,
        log_evidence=state.log_evidence,
        log_remaining=state.log_prior_volume + log_mean_exp(live.log_likelihoods),
        num_dead=num_dead,
        acceptance=acceptance,
        step_size=state.step_size,
        num_non_finite=int(sum(info.num_non_finite for info in infos)),
    )
    return state._replace(
        live=live,
        ranks=(*state.ranks, insertion_ranks(generator, survivors.log_likelihoods, new.log_likelihoods)),
        records=(*state.records, record),
        step_size=_adapt(config, state.step_size, acceptance, inside),
        num_evaluations=state.num_evaluations + len(infos) * config.num_replaced * config.kernel.num_evaluations,
    )


class _Bounds(NamedTuple):
    """The contour of an iteration, in float64 and without a reference."""

    threshold: float
    step_size: float
    whitening: np.ndarray
    order: LabelOrder | None


def _prior_points(model: Model, num_draws: int, key: np.ndarray, blocks: Blocks) -> Points:
    positions = draw_prior(model, num_draws, key)
    values = log_likelihoods(model, positions, [blocks])
    require_numbers(values)
    return Points(np.asarray(positions), values, np.full(num_draws, -np.inf), first_families(num_draws))


def _arranged(
    model: Model, config: NestedConfig, points: Points, generator: np.random.Generator
) -> tuple[Points, LabelOrder | None]:
    """Live points whose labels are in one order have a shape that the moves can be fitted to."""
    if not isinstance(config.kernel, Galilean):
        return points, None  # as published
    positions, order = arranged(model, points.positions, points.positions[-1], generator)
    return points._replace(positions=positions), order


def _choose_num_dead(config: NestedConfig, live: Points) -> int:
    """The worst ones, and all that tie with the best of them, for new points have to be better (Fowlie 2021).

    If this leaves nobody, all but the best and those who tie with it; that there are others, `run` has checked.
    """
    values = live.log_likelihoods
    num_dead = int(np.searchsorted(values, values[config.num_replaced - 1], side="right"))
    return num_dead if num_dead < live.num_points else int(np.searchsorted(values, values[-1], side="left"))


def _replace(
    model: Model,
    config: NestedConfig,
    key_of: Callable[[int], np.ndarray],
    blocks: Blocks,
    survivors: Points,
    parents: np.ndarray,
    bounds: _Bounds,
) -> tuple[Points, list[galilean.Info]]:
    """New points above the threshold, unsorted: moved copies of their parents."""
    reference = _reference(model, survivors.positions[-1:], blocks)
    total = float(np.asarray(reference).sum(dtype=np.float64))
    threshold, whitening = _round_up(bounds.threshold - total), bounds.whitening.astype(real_dtype())
    contour = Contour(jnp.asarray(threshold), bounds.step_size, jnp.asarray(whitening))
    parts, infos = [], []
    for first in range(0, len(parents), config.num_replaced):
        chosen = parents[first : first + config.num_replaced]
        filled = np.resize(chosen, config.num_replaced)  # the compiled program moves just so many
        key = key_of(first // config.num_replaced)
        values = (survivors.log_likelihoods[filled] - total).astype(real_dtype())
        start = galilean.State(jnp.asarray(survivors.positions[filled]), jnp.asarray(values))
        end, info = jax.device_get(_move(model, config.kernel, key, start, blocks, reference, contour, bounds.order))
        # Who has not moved keeps the digits of its value; rounding never puts anyone back on the contour.
        new_values = np.maximum(end.log_likelihoods.astype(float) + total, np.nextafter(bounds.threshold, np.inf))
        kept = np.where(info.moved, new_values, survivors.log_likelihoods[filled])
        births = np.full(config.num_replaced, bounds.threshold)
        moved = Points(end.positions, kept, births, survivors.families[filled])
        parts.append(part(moved, slice(len(chosen))))
        infos.append(info)
    return join(part(survivors, slice(0)), *parts), infos


def _round_up(value: float) -> np.ndarray:
    """The next number of the device's precision that is not below."""
    rounded = np.asarray(value, real_dtype())
    return rounded if float(rounded) >= value else np.nextafter(rounded, np.asarray(np.inf, real_dtype()))


def _whitening(positions: np.ndarray) -> np.ndarray:
    """A square root of the covariance, drawn towards its diagonal where points are few for their dimension."""
    count, dimension = positions.shape
    centred = positions.astype(float) - positions.mean(axis=0, dtype=float)
    covariance = centred.T @ centred / count
    variances = np.diag(covariance)
    if not (variances > 0).all():  # one survivor, or copies of one: no scale to be had
        return np.eye(dimension)
    share = dimension / (dimension + count)
    return np.linalg.cholesky((1 - share) * covariance + share * np.diag(variances))


def _adapt(config: NestedConfig, step_size: float, acceptance: float, inside: float) -> float:
    if not isinstance(config.kernel, Galilean) or math.isnan(acceptance):
        return step_size
    return galilean.adapt(step_size, acceptance, inside, config.kernel)


def _reason_to_stop(config: NestedConfig, state: State, seconds: float) -> str | None:
    values, iterations = state.live.log_likelihoods, len(state.records)
    log_remaining = state.log_prior_volume + log_mean_exp(values)
    if log_remaining < math.log(config.stop_fraction) + state.log_evidence:
        return COMPLETE
    if values[0] == values[-1]:  # sorted: all are equal
        if len(np.unique(state.live.positions, axis=0)) == len(values):
            return COMPLETE  # a plateau at the top, whose evidence is its volume times its height
        return f"stuck after {iterations} iterations: the moves no longer leave their place; {PARTIAL}"
    if config.max_iterations is not None and iterations >= config.max_iterations:
        return f"stopped after max_iterations = {iterations}; {PARTIAL}"
    if config.max_seconds is not None and seconds >= config.max_seconds:
        return f"stopped after max_seconds = {config.max_seconds}, at iteration {iterations}; {PARTIAL}"
    return None


def _progress(config: NestedConfig, state: State, seconds: float) -> Progress:
    """The gap between what remains and what is there closes about linearly: so long until it is closed."""
    recent = state.records[-max(len(state.records) // 3, 2) :]
    first, last = (record.log_remaining - record.log_evidence for record in (recent[0], recent[-1]))
    message = f"log Z {state.log_evidence:.2f}, log X {state.log_prior_volume:.1f}"
    if not last < first:
        return Progress(0.0, math.nan, message)
    iterations_left = max(last - math.log(config.stop_fraction), 0.0) / (first - last) * (len(recent) - 1)
    fraction = len(state.records) / (len(state.records) + iterations_left)
    return Progress(fraction, seconds * (1 / fraction - 1), message)


@partial(jax.jit, static_argnames="model")
def _reference(model: Model, positions: jax.Array, blocks: Blocks) -> jax.Array:
    """The log-likelihood of each block at the only position."""
    return block_sums(model, positions, blocks)[:, 0]


@partial(jax.jit, static_argnames=("model", "kernel"))
def _move(
    model: Model,
    kernel: Galilean | ConstrainedSGHMC,
    key: jax.Array,
    start: galilean.State,
    blocks: Blocks,
    reference: jax.Array,
    contour: Contour,
    order: LabelOrder | None,
) -> tuple[galilean.State, galilean.Info]:
    log_prior = jax.vmap(jax.value_and_grad(model.log_prior_at))

    def log_likelihood(positions: jax.Array) -> tuple[jax.Array, jax.Array]:
        return relative_to_reference(model, positions, blocks, reference)

    if isinstance(kernel, ConstrainedSGHMC):
        return constrained_sghmc.move(jax_key(key), start, log_prior, log_likelihood, contour, kernel)
    region = None if order is None else partial(is_in_order, model, order=order)
    return galilean.move(jax_key(key), start, log_prior, log_likelihood, contour, kernel, region)
