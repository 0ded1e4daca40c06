"""Stochastic gradient annealed importance sampling: Algorithm 1 of the paper, one chunk at a time.

`update` is lines 4-11 of the algorithm with a chunk of rows in the place of the one observation y_n. The
arithmetic on weights is float64 on the host; the device does the two heavy things, `weigh` (log-likelihoods
of the chunk) and `move` (SGHMC on the chunk and mini-batches of the past), each compiled once for a model, a
configuration and a capacity of chunks.
"""

from functools import partial
from typing import NamedTuple

import jax
import numpy as np

from sgais.compute import gradients
from sgais.compute.blocks import Blocks, pack
from sgais.compute.likelihood import log_likelihoods as weigh
from sgais.compute.prior_draws import draw_prior
from sgais.compute.random_keys import jax_key, random_key
from sgais.estimators.annealing_config import PaperConfig
from sgais.estimators.base import Info
from sgais.fields import Chunk, num_rows
from sgais.history import Past, draw
from sgais.kernels import SGHMC, sghmc
from sgais.models.base import Model, Rows
from sgais.smc import annealing
from sgais.smc.weights import Estimate, accumulate, resample, usable, without_failures


class PaperState(NamedTuple):
    """Everything that the next chunk needs to know of the past, but for the rows themselves."""

    positions: jax.Array  # (particles, d)
    log_weights: np.ndarray  # (particles,), float64
    num_rows: int
    num_chunks: int  # with the seed, it determines every random number of the next chunk
    kernel_bias: float  # error of log Z from the moves' excess kinetic temperature, estimated
    warning: str = ""

    @property
    def estimate(self) -> Estimate:
        """Log of line 14: the mean of the weights. Algorithm 1 gives no error: NaN once there are data."""
        return Estimate(annealing.log_mean_exp(self.log_weights), float("nan") if self.num_rows else 0.0)


SAVED_TYPES: tuple[type, ...] = (PaperState, SGHMC)


def init(model: Model, config: PaperConfig, seed: int) -> PaperState:
    """Lines 1-2: particles from the prior, weights of one."""
    positions = draw_prior(model, config.num_particles, random_key(seed, 0, 0))
    return PaperState(positions, np.zeros(config.num_particles), num_rows=0, num_chunks=0, kernel_bias=0.0)


def update(
    model: Model, config: PaperConfig, seed: int, state: PaperState, chunk: Chunk, past: Past
) -> tuple[PaperState, Info]:
    """Lines 4-11: anneal one chunk in. Pure: `state` and `past` stay as they are, whatever happens."""
    blocks, rows_seen = pack(chunk), state.num_rows + num_rows(chunk)
    positions, log_weights = state.positions, state.log_weights
    inverse_temperature, num_failed = 0.0, 0
    moves: list[sghmc.Info] = []
    while inverse_temperature < 1.0:
        key = random_key(seed, state.num_chunks + 1, len(moves))
        generator = np.random.default_rng(key)

        at_prior = state.num_rows == 0 and not moves
        log_likelihoods, failed = usable(weigh(model, positions, [blocks]), at_prior)
        chosen = config.next_inverse_temperature(log_likelihoods, inverse_temperature, len(moves))
        log_increments = (chosen - inverse_temperature) * log_likelihoods
        inverse_temperature = chosen
        log_weights = accumulate(log_weights, log_increments)
        positions, log_weights = resample(config.resampling, generator, positions, log_weights)

        batches = _draw_batches(config, generator, past, chunk)
        scales = _Scales(
            inverse_temperature,
            past_per_batch_row=state.num_rows / config.batch_size,
            step_size=config.kernel.learning_rate / rows_seen,
        )
        positions, move_info = _move(model, config.kernel, key, positions, blocks, batches, scales)
        moves.append(move_info)
        num_failed += failed

    temperature = float(np.mean([move.kinetic_temperature for move in moves]))
    kernel_bias = state.kernel_bias + _kernel_bias(model, temperature, state.num_rows, rows_seen)
    return PaperState(positions, log_weights, rows_seen, state.num_chunks + 1, kernel_bias), Info(
        annealing_steps=len(moves),
        num_moves=len(moves),
        final_ess=annealing.effective_sample_size(log_increments),
        weight_ess=annealing.effective_sample_size(log_weights),
        kinetic_temperature=temperature,
        step_size=config.kernel.learning_rate / rows_seen,
        num_modes=0,
        num_non_finite=num_failed + int(sum(move.num_non_finite for move in moves)),
    )


def positions_now(state: PaperState) -> np.ndarray:
    """The particles' positions, shape (particles, d)."""
    return np.asarray(state.positions)


def log_weights_now(state: PaperState) -> np.ndarray:
    """The particles' log weights, not normalised."""
    return state.log_weights


def islands_now(state: PaperState) -> tuple[np.ndarray, np.ndarray]:
    """Positions and log weights with a leading axis for islands: Algorithm 1 has one."""
    return positions_now(state)[None], state.log_weights[None]


def log_predictive(model: Model, state: PaperState, chunk: Chunk) -> float:
    """Log p(chunk | rows seen): the mean of the chunk's likelihood over the weighted particles."""
    log_likelihoods, _ = without_failures(weigh(model, state.positions, [pack(chunk)]))
    return annealing.log_mean_exp(state.log_weights + log_likelihoods) - state.estimate.log_evidence


def _kernel_bias(model: Model, temperature: float, rows_before: int, rows_seen: int) -> float:
    """The error of the chunk's log Z from excess kinetic temperature.

    With a covariance T times too large, a chunk's mean log-likelihood is too low by (T - 1) / 2 in each dimension,
    times the chunk's share of the information.
    """
    if rows_before == 0 or not np.isfinite(temperature):
        return 0.0
    return -0.5 * (temperature - 1.0) * model.dimension * float(np.log(rows_seen / rows_before))


class _Scales(NamedTuple):
    """The numbers by which the parts of a move are scaled; they change, the compiled program does not."""

    inverse_temperature: float
    past_per_batch_row: float
    step_size: float


def _draw_batches(config: PaperConfig, generator: np.random.Generator, past: Past, chunk: Chunk) -> Chunk:
    """A mini-batch of the past for every step of the move."""
    shape = (config.kernel.num_steps, config.batch_size)
    if past.num_rows == 0:  # the first chunk has no past: any row will do, it counts zero times
        return {name: np.broadcast_to(rows[0], (*shape, *rows.shape[1:])) for name, rows in chunk.items()}
    return draw(past, generator, shape)


@partial(jax.jit, static_argnames=("model", "kernel"))
def _move(
    model: Model,
    kernel: SGHMC,
    key: jax.Array,
    positions: jax.Array,
    chunk: Blocks,
    batches: Rows,
    scales: _Scales,
) -> tuple[jax.Array, sghmc.Info]:
    """Line 9: SGHMC with the potential of Eq. (seq-potential)."""

    def gradient(at: jax.Array, batch: Rows) -> jax.Array:
        return gradients.mini_batch(model, at, chunk, scales.inverse_temperature, batch, scales.past_per_batch_row)

    return sghmc.move(jax_key(key), positions, gradient, batches, scales.step_size, kernel)
