"""The late phase of SGAIS: particles ride on quadratic surrogates of the posterior, one for each mode.

A chunk costs its derivatives at the anchors, no more: the surrogates' integrals give its point of the curve. Each
time the data have grown by a share, the particles follow by the affine map from the old surrogate to the new one, and
are weighed: what the posterior has beyond second order, from a sample of rows, is all that is left to their weights.
They are moved only when these have become uneven.
"""

from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from sgais import gradients
from sgais.annealing import log_mean_exp
from sgais.estimators import cooling, importance, remainder
from sgais.estimators.account import Account
from sgais.estimators.bank import alike
from sgais.estimators.found import Found
from sgais.estimators.importance import Sampled
from sgais.estimators.islands import Islands, ess_fraction, have_parted, migrate, resample
from sgais.estimators.newton import Mode
from sgais.estimators.particles import Places, key_of
from sgais.estimators.remainder import Steps
from sgais.estimators.surrogate import (
    Normalised,
    Surrogate,
    at_anchor,
    basis_for,
    normalise,
    shifted,
    transport,
    with_rows,
    without_prior,
)
from sgais.fields import Chunk
from sgais.history import WithChunk
from sgais.kernels import Langevin, langevin
from sgais.likelihood import slabs_for_derivatives
from sgais.model import Model, Rows, real_dtype
from sgais.symmetry import num_images

ROWS_AT_ONCE = 65536  # in passes over all rows
ALL_ROWS = 16384  # up to which remainders are taken over all rows
FIRST_SAMPLE = 4096  # rows from which a remainder is estimated beyond that
LARGEST_SAMPLE = 262_144
LARGEST_NOISE = 0.3  # of a log weight, from the sampling of rows
LARGEST_NOISE_SHARE = 0.25  # of the gradient's noise in all noise of the dynamics
LARGEST_BATCH = 16384
LARGEST_BATCH_SHARE = 1 / 16  # of all rows: with more, exact moves on all of them, where these are kept, cost no more
GROWTHS = (1 / 64, 1 / 2)  # of the rows between two weighings
LARGEST_DRIFT = 0.03  # nats that the surrogates alone may be off before the particles are weighed for the curve
MOVED = 0.5  # standard deviations of a surrogate's centre, after which they are weighed as well while rows are few
FORGETTING = 0.5  # of the drift from one weighing to the next: one that is small by luck does not count as none
GOOD_NOISE = 0.02  # nats of a weighing, from the sampling of rows, which all particles share
LARGEST_REMAINDER = 6.0  # spread of the log posterior beyond second order, above which surrogates are of no use yet
REACH = 4.0  # standard deviations beyond the typical distance sqrt(d) at which a particle still belongs to a mode
MATTERS = 15.0  # nats below the best mode, beyond which one without particles is not kept
COLLAPSE = 0.2  # ESS fraction of one weighing below which it is taken back


class Late(NamedTuple):
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


def start(
    model: Model, kernel: Langevin, batch_size: int, anchors: np.ndarray, rows: WithChunk, end: int
) -> Late | None:
    """Surrogates at given modes (modes, d), no particles yet; None where none of them has a maximum."""
    surrogates = _with_maximum(_in_its_basis(model, position, rows, end) for position in anchors)
    if not surrogates:
        return None
    return Late(surrogates, surrogates, np.zeros(0, int), end, end, 0.25, batch_size, kernel.step_size, 1.0)


def with_modes(model: Model, late: Late, anchors: np.ndarray, rows: WithChunk) -> Late:
    """The same with surrogates of more modes (modes, d), to which no particle belongs yet."""
    more = _with_maximum(_in_its_basis(model, position, rows, late.num_rows_then) for position in anchors)
    return late._replace(surrogates=late.surrogates + more, then=late.then + more)


def sampled(model: Model, late: Late, rows: WithChunk, places: Places, fewest: int = 0) -> Sampled | None:
    """Log Z of the rows for which the particles stand, outright, from this many draws at least."""
    then = _normalised(late.then)
    assert then is not None
    return importance.take(model, late.then, then, rows, late.num_rows_then, places, fewest)


def known_modes(model: Model, late: Late) -> Found:
    """The surrogates as modes that have been found."""
    then = _normalised(late.then)
    assert then is not None
    modes = tuple(
        Mode(one.gaussian.centre, one.log_integral - one.gaussian.log_volume, one.gaussian.precision, True, 0)
        for one in then
    )
    log_evidences = np.array([one.log_integral for one in then]) + np.log(num_images(model))
    order = np.argsort(-log_evidences)
    return Found(tuple(modes[number] for number in order), log_evidences[order], 0, 0)


def joined(model: Model, late: Late, islands: Islands, rows: WithChunk, places: Places) -> tuple[Late, Islands] | None:
    """Particles that belong to the surrogates, each in the labelling nearest to its own; None where some do not.

    Or where the log posterior has so much beyond second order that surrogates are of no use yet.
    """
    anchors, gaussians = centres(late), [one.gaussian for one in _normalised(late.then) or []]
    positions = alike(model, islands.all_positions, anchors[0])
    distances = np.array([gaussian.distances(positions) for gaussian in gaussians])
    if not (distances.min(axis=0) < np.sqrt(model.dimension) + REACH).all():
        return None
    late, islands = late._replace(modes=distances.argmin(axis=0)), islands.at(positions)
    steps = _from_anchors(late, islands.all_positions)
    drawn = rows.sample(places.generator(), ALL_ROWS, 0, late.num_rows_then)
    remainders = remainder.of_rows(model, steps, drawn, late.num_rows_then)[0] + remainder.of_prior(model, steps)
    low, high = np.quantile(remainders, [0.16, 0.84])
    return (late, islands) if high - low < 2 * LARGEST_REMAINDER else None


def centres(late: Late) -> np.ndarray:
    """Of the surrogates, shape (modes, d)."""
    then = _normalised(late.then)
    assert then is not None
    return np.array([one.gaussian.centre for one in then])


def add(model: Model, late: Late, rows: Chunk) -> Late:
    """Add rows to the surrogates; the particles stay behind."""
    piece = slabs_for_derivatives(model, rows)
    return late._replace(surrogates=tuple(with_rows(model, surrogate, piece) for surrogate in late.surrogates))


def log_growths(late: Late) -> np.ndarray | None:
    """By how much each particle's share of the evidence has grown since then; None if a surrogate broke down."""
    now, then = _normalised(late.surrogates), _normalised(late.then)
    if now is None or then is None:
        return None
    growths = np.array([new.log_integral - old.log_integral for new, old in zip(now, then, strict=True)])
    return growths[late.modes]


def has_strayed(late: Late) -> bool:
    """Whether a surrogate's centre has gone farther from its anchor than a doubling of the data explains."""
    for surrogate in late.surrogates:
        now = normalise(surrogate)
        if now is None:
            return True
        far = now.gaussian.distances(surrogate.anchor[None])[0]
        if far**2 > 4 * len(surrogate.anchor) + 16:
            return True
    return False


def unweighed_error(late: Late, num_rows: int) -> float:
    """The error of log Z, in nats, of rows that only the surrogates have seen."""
    growth = np.log(num_rows / late.num_rows_then)
    return float(late.drift * np.sqrt(growth)) if growth > 0 else 0.0


def is_behind(late: Late, num_rows: int) -> bool:
    """Whether the particles have to be weighed for a point of the curve: where surrogates alone say too little."""
    if unweighed_error(late, num_rows) > LARGEST_DRIFT:
        return True
    now, then = _normalised(late.surrogates), _normalised(late.then)
    if now is None or then is None:
        return True
    moved = (new.gaussian.distances(old.gaussian.centre[None])[0] for new, old in zip(now, then, strict=True))
    return num_rows <= ALL_ROWS and max(moved) > MOVED


def positions_now(late: Late, islands: Islands) -> np.ndarray:
    """Where the particles are once they have followed their surrogates, shape (all particles, d)."""
    now, then = _normalised(late.surrogates), _normalised(late.then)
    assert now is not None
    assert then is not None
    return _followed(late, then, now, islands.all_positions)


def weigh(
    model: Model, late: Late, islands: Islands, rows: WithChunk, end: int, places: Places, account: Account
) -> tuple[Late, Islands] | None:
    """Let the particles follow the surrogates and weigh them; None if the weights collapse."""
    now, then = _normalised(late.surrogates), _normalised(late.then)
    assert then is not None
    if now is None:
        return None
    before = islands.all_positions
    after = _followed(late, then, now, before)
    remainders, noise_variance = _remainder_change(model, late, islands, before, after, rows, end, places)
    log_weights = _surrogate_change(late, then, now, before, after) + remainders
    log_weights = np.where(np.isfinite(log_weights), log_weights, -np.inf)
    fraction = ess_fraction(log_weights.reshape(islands.log_weights.shape))
    account.num_weighings += 1
    account.final_ess = fraction
    account.num_non_finite += int(np.isneginf(log_weights).sum())
    if fraction < COLLAPSE:
        return None
    account.kernel_bias += _kernel_bias(late, then, before, log_weights)
    smallest, largest = GROWTHS
    growth = late.growth * (0.5 if fraction < 0.5 else 1.5 if fraction > 0.9 else 1.0)
    weighed = islands.at(after).times(log_weights)._replace(booked_variance=islands.booked_variance + noise_variance)
    late = late._replace(
        then=late.surrogates,
        num_rows_then=end,
        growth=min(max(growth, smallest), largest),
        drift=_drift(late, islands, weighed, float(np.std(remainders[np.isfinite(remainders)])), end),
    )
    return late, weighed


def _drift(late: Late, before: Islands, weighed: Islands, spread: float, end: int) -> float:
    """From what a weighing says beyond the surrogates: on the whole, and by its spread over particles."""
    growths = log_growths(late)
    assert growths is not None, "a surrogate that broke down is not weighed"
    shift = log_mean_exp(weighed.all_log_weights) - log_mean_exp(before.times(growths).all_log_weights)
    latest = max(abs(shift), spread) / np.sqrt(np.log(end / late.num_rows_then))
    return max(latest, FORGETTING * late.drift) if np.isfinite(late.drift) else latest


def taken_back(late: Late) -> Late | None:
    """As at the last weighing, with the next one in half the time; None if it cannot come any sooner."""
    if late.growth <= GROWTHS[0]:
        return None
    return late._replace(surrogates=late.then, growth=max(0.5 * late.growth, GROWTHS[0]))


def survivors(late: Late, islands: Islands, generator: np.random.Generator) -> tuple[Late, Islands]:
    """Resample, or migrate where the islands have parted."""
    islands, chosen = (migrate if have_parted(islands) else resample)(islands, generator)
    return late._replace(modes=late.modes[chosen]), islands


def reanchor(model: Model, late: Late, rows: WithChunk, places: Places) -> Late | None:
    """Anchors at the surrogates' centres; modes without particles that no longer matter are dropped."""
    now = _normalised(late.surrogates)
    assert now is not None
    log_integrals = np.array([one.log_integral for one in now])
    matters = log_integrals > log_integrals.max() - MATTERS
    used = np.union1d(np.unique(late.modes), np.flatnonzero(matters))
    surrogates = tuple(
        _at(model, late.surrogates[mode], now[mode].gaussian.centre, rows, late.num_rows_then, places) for mode in used
    )
    if any(normalise(surrogate) is None for surrogate in surrogates):
        return None
    modes = np.searchsorted(used, late.modes)
    return late._replace(surrogates=surrogates, then=surrogates, modes=modes, num_rows_anchored=late.num_rows_then)


def move(
    model: Model, kernel: Langevin, late: Late, islands: Islands, rows: WithChunk, places: Places, account: Account
) -> tuple[Late, Islands] | None:
    """Langevin moves with control variates; None if no batch and no step keeps them cool."""
    now = _normalised(late.surrogates)
    assert now is not None
    positions, end = islands.all_positions, late.num_rows_then

    def attempt(pace: cooling.Pace) -> tuple[np.ndarray, langevin.Info]:
        return _langevin(model, kernel, late, now, pace, positions, rows, end, places)

    pace = cooling.Pace(late.batch_size, late.step_size)
    moved = cooling.move(attempt, kernel, pace, _limits(rows.is_whole, end), account)
    if moved is None:
        return None
    return late._replace(temperature=moved.temperature, **moved.pace._asdict()), islands.at(moved.positions)


def rehearse(model: Model, kernel: Langevin, late: Late, islands: Islands, rows: WithChunk, places: Places) -> None:
    """Move the particles and forget it: the program is then there, and its memory taken, before it is needed.

    The first move of a stream may come after millions of rows.
    """
    now = _normalised(late.surrogates)
    assert now is not None
    pace = cooling.Pace(late.batch_size, late.step_size)
    _langevin(model, kernel, late, now, pace, islands.all_positions, rows, late.num_rows_then, places)


def _with_maximum(surrogates: Iterable[Surrogate]) -> tuple[Surrogate, ...]:
    return tuple(surrogate for surrogate in surrogates if normalise(surrogate) is not None)


def _limits(may_see_all_rows: bool, num_rows: int) -> cooling.Limits:
    if may_see_all_rows:
        largest = min(int(LARGEST_BATCH_SHARE * num_rows), LARGEST_BATCH)
        return cooling.Limits(largest, LARGEST_NOISE_SHARE, bearable=LARGEST_NOISE_SHARE)
    return cooling.Limits(min(num_rows, LARGEST_BATCH), LARGEST_NOISE_SHARE)


def _normalised(surrogates: tuple[Surrogate, ...]) -> list[Normalised] | None:
    found = [normalise(surrogate) for surrogate in surrogates]
    return None if any(one is None for one in found) else [one for one in found if one is not None]


def _from_anchors(late: Late, positions: np.ndarray) -> Steps:
    """From each particle's anchor to its position."""
    return remainder.from_anchors(late.surrogates, late.modes, positions)


def _at(
    model: Model, surrogate: Surrogate, position: np.ndarray, rows: WithChunk, end: int, places: Places
) -> Surrogate:
    """The surrogate at another anchor: by a pass over all rows, or from a sample where these are not kept."""
    if rows.is_whole:
        return _of_all_rows(model, position, rows, end, basis_for(-surrogate.hessian))
    return shifted(model, surrogate, position, rows.sample(places.generator(), LARGEST_SAMPLE, 0, end), end)


def _in_its_basis(model: Model, position: np.ndarray, rows: WithChunk, end: int) -> Surrogate:
    """A first surrogate there, in coordinates that keep its digits."""
    surrogate = _of_all_rows(model, position, rows, end)
    now = normalise(surrogate)
    basis = None if now is None else basis_for(now.gaussian.precision)
    return surrogate if basis is None else _of_all_rows(model, position, rows, end, basis)


def _of_all_rows(
    model: Model, position: np.ndarray, rows: WithChunk, end: int, basis: np.ndarray | None = None
) -> Surrogate:
    surrogate = at_anchor(model, position, basis)
    for first in range(0, end, ROWS_AT_ONCE):
        some = rows.between(first, min(end, first + ROWS_AT_ONCE))
        surrogate = with_rows(model, surrogate, slabs_for_derivatives(model, some))
    return surrogate


def _followed(late: Late, then: list[Normalised], now: list[Normalised], positions: np.ndarray) -> np.ndarray:
    """Positions that were right then under the affine maps to now, in numbers that the device can hold."""
    followed = positions.copy()
    for mode, (old, new) in enumerate(zip(then, now, strict=True)):
        mine = late.modes == mode
        followed[mine] = transport(followed[mine], old.gaussian, new.gaussian)
    return followed.astype(real_dtype()).astype(np.float64)


def _surrogate_change(
    late: Late, then: list[Normalised], now: list[Normalised], before: np.ndarray, after: np.ndarray
) -> np.ndarray:
    """The log weights that the surrogates give particles which follow them: one number for all of a mode's."""
    change = np.empty(len(before))
    for mode, (new, old) in enumerate(zip(late.surrogates, late.then, strict=True)):
        mine = late.modes == mode
        volumes = now[mode].gaussian.log_volume - then[mode].gaussian.log_volume
        change[mine] = new.values_at(after[mine]) - old.values_at(before[mine]) + volumes
    return change


def _remainder_change(
    model: Model,
    late: Late,
    islands: Islands,
    before: np.ndarray,
    after: np.ndarray,
    rows: WithChunk,
    end: int,
    places: Places,
) -> tuple[np.ndarray, float]:
    """The change of the log posterior beyond second order, of old rows from before to after and of new rows.

    And the variance of its mean from the sampling of rows, which no spread over particles shows.
    """
    from_anchors, border = _from_anchors(late, after), late.num_rows_then
    steps = from_anchors._replace(before=before)
    shares = np.exp(islands.all_log_weights - log_mean_exp(islands.all_log_weights)) / islands.log_weights.size
    sample = ALL_ROWS if end <= ALL_ROWS else FIRST_SAMPLE
    while True:
        old = remainder.by_group(model, steps, rows.sample(places.generator(), sample, 0, border), border)
        new_rows = rows.sample(places.generator(), sample, border, end)
        new = remainder.by_group(model, from_anchors, new_rows, end - border)
        variance = old.variance + new.variance
        variance_of_mean = old.variance_of_mean(shares) + new.variance_of_mean(shares)
        is_exact = np.sqrt(np.median(variance)) < LARGEST_NOISE and variance_of_mean < GOOD_NOISE**2
        if is_exact or 4 * sample > min(end, LARGEST_SAMPLE):
            break
        sample *= 4
    # Noise in a log weight makes the weight too large on average.
    return old.values + new.values - 0.5 * variance + remainder.of_prior(model, steps), variance_of_mean


def _kernel_bias(late: Late, then: list[Normalised], positions: np.ndarray, log_weights: np.ndarray) -> float:
    """The error that the heat of the last move leaves in log Z."""
    energies = np.empty(len(positions))
    for mode, old in enumerate(then):
        mine = late.modes == mode
        energies[mine] = 0.5 * old.gaussian.distances(positions[mine]) ** 2
    return cooling.bias_of_heat(late.temperature, log_weights, energies)


def _langevin(
    model: Model,
    kernel: Langevin,
    late: Late,
    now: list[Normalised],
    pace: cooling.Pace,
    positions: np.ndarray,
    rows: WithChunk,
    end: int,
    places: Places,
) -> tuple[np.ndarray, langevin.Info]:
    """One move in the surrogates' whitened coordinates."""
    batches = rows.draw(places.generator(), (kernel.num_steps + 1, 2, pace.batch_size // 2), 0, end)
    whitened = np.empty_like(positions)
    for mode, one in enumerate(now):
        mine = late.modes == mode
        whitened[mine] = one.gaussian.whiten(positions[mine])
    centres = np.array([one.gaussian.centre for one in now])[late.modes]
    unwhitening = np.array([_unwhitening(one) for one in now])[late.modes]
    of_rows = [without_prior(model, surrogate) for surrogate in late.surrogates]
    # By NumPy: each operation of JAX outside a compiled function is a program of its own, with megabytes of its own.
    anchors = gradients.Anchors(
        np.array([known.anchor for known in of_rows], real_dtype())[late.modes],
        np.array([known.gradient for known in of_rows], real_dtype())[late.modes],
        np.array([known.hessian for known in of_rows], real_dtype())[late.modes],
    )
    coordinates = (values.astype(real_dtype()) for values in (whitened, centres, unwhitening))
    scale = end / (pace.batch_size // 2)
    moved, info = _compiled_langevin(
        model, kernel, places.next(), *coordinates, anchors, batches, scale, pace.step_size
    )
    return centres + np.einsum("nij,nj->ni", unwhitening, np.asarray(moved, np.float64)), jax.device_get(info)


def _unwhitening(one: Normalised) -> np.ndarray:
    return np.linalg.inv(np.linalg.cholesky(one.gaussian.precision).T)


@partial(jax.jit, static_argnames=("model", "kernel"))
def _compiled_langevin(
    model: Model,
    kernel: Langevin,
    here: jax.Array,
    whitened: jax.Array,
    centres: jax.Array,
    unwhitening: jax.Array,
    anchors: gradients.Anchors,
    batches: Rows,
    rows_per_batch_row: float,
    step_size: float,
) -> tuple[jax.Array, langevin.Info]:
    def gradient(whitened: jax.Array, batch: Rows) -> jax.Array:
        positions = centres + jnp.einsum("nij,nj->ni", unwhitening, whitened)
        found = gradients.control_variate(model, positions, anchors, batch, rows_per_batch_row)
        return jnp.einsum("nij,ni->nj", unwhitening, found)

    return langevin.move(key_of(here), whitened, gradient, batches, step_size, kernel)
