"""Stochastic gradient annealed importance sampling: Algorithm 1 of the paper, one chunk at a time.

`update` is lines 4-11 of the algorithm with a chunk of rows in the place of the one observation y_n. The
arithmetic on weights is float64 on the host; the device does the two heavy things, `weigh` (log-likelihoods
of the chunk) and `move` (SGHMC on the chunk and mini-batches of the past), each compiled once for a model, a
configuration and a capacity of chunks.
"""

from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, Protocol

import jax
import numpy as np

from sgais import annealing, gradients, resampling
from sgais.blocks import Blocks, pack
from sgais.errors import EstimationError, ModelError, require
from sgais.fields import Chunk, num_rows
from sgais.kernels import SGHMC, sghmc
from sgais.likelihood import log_likelihoods as weigh
from sgais.model import Model, Rows


@dataclass(frozen=True)
class Config:
    """The parameters of the estimator. The defaults are, in this version, the paper's.

    Attributes:
        num_particles: M.
        target_ess_fraction: The target ESS of adaptive annealing, over the number of particles. At or below
            1 / num_particles every chunk is taken in one step, without annealing.
        schedule: Fixed inverse temperatures for every chunk, ascending to 1, in place of adaptive ones; see
            `sgais.annealing.linear_schedule` and `sigmoidal_schedule`.
        resampling: None, or the scheme by which particles are resampled before every move:
            "systematic", "stratified", "residual" or "multinomial".
        batch_size: Rows per mini-batch of the past.
        chunk_size: Rows per chunk when `sgais.estimate` cuts up a data set. `OnlineEvidence` takes chunks as
            they come.
        kernel: The parameters of the moves.
    """

    num_particles: int = 10
    target_ess_fraction: float = 0.5
    schedule: tuple[float, ...] | None = None
    resampling: str | None = None
    batch_size: int = 500
    chunk_size: int = 500
    kernel: SGHMC = field(default_factory=SGHMC)

    @classmethod
    def paper(cls, **changes: Any) -> "Config":
        """The published settings, nothing added; `changes` vary single ones, as the paper's figures do."""
        return cls(**changes)

    @property
    def target_ess(self) -> float:
        """The target ESS as a number of particles."""
        return self.target_ess_fraction * self.num_particles

    def __post_init__(self) -> None:
        for name in ("num_particles", "batch_size", "chunk_size"):
            value = getattr(self, name)
            require(isinstance(value, int) and value >= 1, name, "be a whole number of at least 1", value)
        require(
            0 < self.target_ess_fraction < 1,
            "target_ess_fraction",
            "lie between 0 and 1",
            self.target_ess_fraction,
            "Divide a target ESS by the number of particles.",
        )
        schemes = sorted(resampling.SCHEMES)
        require(
            self.resampling is None or self.resampling in resampling.SCHEMES,
            "resampling",
            f"be None or one of {schemes}",
            self.resampling,
        )
        if self.schedule is not None:
            steps = np.diff([0.0, *self.schedule])
            rises_to_one = len(self.schedule) > 0 and bool(np.all(steps > 0)) and self.schedule[-1] == 1.0
            require(rises_to_one, "schedule", "rise from above 0 to exactly 1", self.schedule)
        require(isinstance(self.kernel, SGHMC), "kernel", "be a sgais.SGHMC", self.kernel)


class State(NamedTuple):
    """Everything that the next chunk needs to know of the past, but for the rows themselves."""

    positions: jax.Array  # (particles, d)
    log_weights: np.ndarray  # (particles,), float64
    num_rows: int
    num_chunks: int  # with the seed, it determines every random number of the next chunk

    @property
    def log_evidence(self) -> float:
        """Log of line 14: the mean of the weights."""
        return annealing.log_mean_exp(self.log_weights)


class Info(NamedTuple):
    """What a chunk's update tells about itself; see `EvidenceRecord`."""

    annealing_steps: int
    final_ess: float
    kinetic_temperature: float
    num_non_finite: int


class Past(Protocol):
    """The rows before the chunk, as far as `update` needs them."""

    @property
    def num_rows(self) -> int:
        """How many there are."""

    def draw(self, generator: np.random.Generator, num_batches: int, batch_size: int) -> Chunk:
        """Mini-batches, independent and with replacement."""


def init(model: Model, config: Config, seed: int) -> State:
    """Lines 1-2: particles from the prior, weights of one."""
    positions = _sample_prior(model, config.num_particles, _place(seed, 0, 0))
    return State(positions, np.zeros(config.num_particles), num_rows=0, num_chunks=0)


def update(model: Model, config: Config, seed: int, state: State, chunk: Chunk, past: Past) -> tuple[State, Info]:
    """Lines 4-11: anneal one chunk in. Pure: `state` and `past` stay as they are, whatever happens."""
    blocks, rows_seen = pack(chunk), state.num_rows + num_rows(chunk)
    positions, log_weights = state.positions, state.log_weights
    inverse_temperature, num_failed = 0.0, 0
    moves: list[sghmc.Info] = []
    while inverse_temperature < 1.0:
        place = _place(seed, state.num_chunks + 1, len(moves))
        generator = np.random.default_rng(place)

        log_likelihoods, failed = _usable(weigh(model, positions, blocks), at_prior=state.num_rows == 0)
        chosen = _choose_temperature(config, log_likelihoods, inverse_temperature, len(moves))
        log_increments = (chosen - inverse_temperature) * log_likelihoods
        inverse_temperature = chosen
        log_weights = _accumulate(log_weights, log_increments)
        positions, log_weights = _resample(config, generator, positions, log_weights)

        batches = _draw_batches(config, generator, past, chunk)
        scales = _Scales(
            inverse_temperature,
            past_per_batch_row=state.num_rows / config.batch_size,
            step_size=config.kernel.learning_rate / rows_seen,
        )
        positions, move_info = _move(model, config.kernel, place, positions, blocks, batches, scales)
        moves.append(move_info)
        num_failed += failed

    return State(positions, log_weights, rows_seen, state.num_chunks + 1), Info(
        annealing_steps=len(moves),
        final_ess=annealing.effective_sample_size(log_increments),
        kinetic_temperature=float(np.mean([move.kinetic_temperature for move in moves])),
        num_non_finite=num_failed + int(sum(move.num_non_finite for move in moves)),
    )


def log_predictive(model: Model, state: State, chunk: Chunk) -> float:
    """Log p(chunk | rows seen): the mean of the chunk's likelihood over the weighted particles."""
    log_likelihoods = weigh(model, state.positions, pack(chunk))
    return annealing.log_mean_exp(state.log_weights + log_likelihoods) - state.log_evidence


class _Scales(NamedTuple):
    """The numbers by which the parts of a move are scaled; they change, the compiled program does not."""

    inverse_temperature: float
    past_per_batch_row: float
    step_size: float


def _place(seed: int, chunk_number: int, step: int) -> np.ndarray:
    """Names one draw of random numbers; no random state is ever kept, so a resumed run repeats exactly."""
    return np.array([seed, chunk_number, step], np.uint32)


def _usable(log_likelihoods: np.ndarray, at_prior: bool) -> tuple[np.ndarray, int]:
    """Give weight zero to particles whose log-likelihood is not a number, count them, or give up."""
    failed = np.isnan(log_likelihoods) | (log_likelihoods == np.inf)
    if at_prior and failed.any():
        raise ModelError(
            f"`log_likelihood` must be a number at draws from the prior, got {log_likelihoods[failed][0]} for "
            f"{failed.sum()} of {len(failed)} particles. Look for overflow, a log of zero or a scale of zero."
        )
    usable = np.where(failed, -np.inf, log_likelihoods)
    if np.isneginf(usable).all():
        raise EstimationError(
            f"every particle gives this chunk probability zero ({failed.sum()} of {len(failed)} by a "
            "log-likelihood that is not a number). The chunk was not taken in. Check it for values that the "
            "model rules out; smaller chunks or more particles may find a way."
        )
    return usable, int(failed.sum())


def _choose_temperature(config: Config, log_likelihoods: np.ndarray, inverse_temperature: float, step: int) -> float:
    """Lines 6-7: lambda + Delta, never beyond 1."""
    if config.schedule is not None:
        return config.schedule[step]
    return annealing.next_inverse_temperature(log_likelihoods, inverse_temperature, config.target_ess_fraction)


def _accumulate(log_weights: np.ndarray, log_increments: np.ndarray) -> np.ndarray:
    """Line 8."""
    accumulated = log_weights + log_increments
    if np.isneginf(accumulated).all():
        raise EstimationError(
            "no particle explains both this chunk and the rows before it. The chunk was not taken in. "
            "Use more particles, or resampling."
        )
    return accumulated


def _resample(
    config: Config, generator: np.random.Generator, positions: jax.Array, log_weights: np.ndarray
) -> tuple[jax.Array, np.ndarray]:
    """The option of section 3: draw particles by their weights, then give all of them the mean weight."""
    if config.resampling is None:
        return positions, log_weights
    log_mean = annealing.log_mean_exp(log_weights)
    weights = np.exp(log_weights - log_mean) / len(log_weights)
    survivors = resampling.SCHEMES[config.resampling](generator, weights)
    return _take(positions, survivors), np.full_like(log_weights, log_mean)


def _draw_batches(config: Config, generator: np.random.Generator, past: Past, chunk: Chunk) -> Chunk:
    """A mini-batch of the past for every step of the move."""
    shape = (config.kernel.num_steps, config.batch_size)
    if past.num_rows == 0:  # the first chunk has no past: any row will do, it counts zero times
        return {name: np.broadcast_to(rows[0], (*shape, *rows.shape[1:])) for name, rows in chunk.items()}
    return past.draw(generator, *shape)


@partial(jax.jit, static_argnames=("model", "num_draws"))
def _sample_prior(model: Model, num_draws: int, place: jax.Array) -> jax.Array:
    return model.sample_prior(_key(place), num_draws)


@jax.jit
def _take(positions: jax.Array, indices: jax.Array) -> jax.Array:
    return positions[indices]


@partial(jax.jit, static_argnames=("model", "kernel"))
def _move(
    model: Model,
    kernel: SGHMC,
    place: jax.Array,
    positions: jax.Array,
    chunk: Blocks,
    batches: Rows,
    scales: _Scales,
) -> tuple[jax.Array, sghmc.Info]:
    """Line 9: SGHMC with the potential of Eq. (seq-potential)."""

    def gradient(at: jax.Array, batch: Rows) -> jax.Array:
        return gradients.mini_batch(model, at, chunk, scales.inverse_temperature, batch, scales.past_per_batch_row)

    return sghmc.move(_key(place), positions, gradient, batches, scales.step_size, kernel)


def _key(place: jax.Array) -> jax.Array:
    seed, chunk_number, step = place
    return jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), chunk_number), step)
