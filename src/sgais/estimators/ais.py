"""Annealed importance sampling on a whole data set (section 3 of the paper; Neal 1998).

Particles go from the prior to the posterior through p(data | theta)^lambda p(theta); their weights estimate the
evidence. `AISConfig.paper()` is the paper's reference (SGHMC with full gradients); by default the moves have a
Metropolis test, which makes the estimate of Z unbiased for a fixed schedule, and particles are resampled.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from sgais import annealing, gradients, likelihood
from sgais.blocks import Blocks, pack_whole
from sgais.errors import require
from sgais.estimators import full_data
from sgais.estimators.annealing_config import AnnealingConfig
from sgais.estimators.particles import draw_prior, key_of, place
from sgais.estimators.progress import Progress, Report
from sgais.estimators.result import COMPLETE, Result
from sgais.estimators.weights import accumulate, log_mean_variance, normalised, resample, usable
from sgais.fields import Chunk, num_rows
from sgais.kernels import HMC, SGHMC, sghmc
from sgais.model import Model
from sgais.positions import constrain


@dataclass(frozen=True)
class AISConfig(AnnealingConfig):
    """The parameters of annealed importance sampling.

    Attributes:
        num_particles: As in `AnnealingConfig`, like the next three.
        target_ess_fraction: Target ESS over the number of particles.
        schedule: Fixed inverse temperatures instead.
        resampling: None, or a scheme.
        kernel: `HMC` (with a Metropolis test) or `SGHMC` (the paper's, with full gradients).
        max_seconds: The run stops when it has taken longer, with a result that says so.
    """

    num_particles: int = 256
    target_ess_fraction: float = 0.8
    resampling: str | None = "systematic"
    kernel: HMC | SGHMC = field(default_factory=HMC)
    max_seconds: float = float("inf")

    @classmethod
    def paper(cls, **changes: Any) -> "AISConfig":
        """As in the paper's experiments: the settings of SGAIS, with the whole data set in every step."""
        published = {"num_particles": 10, "target_ess_fraction": 0.5, "resampling": None, "kernel": SGHMC()}
        return cls(**(published | changes))

    def __post_init__(self) -> None:
        super().__post_init__()
        require(isinstance(self.kernel, HMC | SGHMC), "kernel", "be a sgais.HMC or sgais.SGHMC", self.kernel)
        require(self.max_seconds > 0, "max_seconds", "be positive", self.max_seconds)


class AISRecord(NamedTuple):
    """One intermediate distribution.

    Attributes:
        inverse_temperature: lambda.
        log_evidence: log of the normalising constant at lambda; the evidence only where lambda is 1.
        ess: Effective sample size of the step's incremental weights.
        acceptance: Of the moves, for `HMC`; NaN for `SGHMC`.
        kinetic_temperature: Of the moves, for `SGHMC`; NaN for `HMC`.
        num_non_finite: Particles that left the finite numbers.
        seconds: Wall time since the start.
    """

    inverse_temperature: float
    log_evidence: float
    ess: float
    acceptance: float
    kinetic_temperature: float
    num_non_finite: int
    seconds: float


class State(NamedTuple):
    """Particles on their way from the prior to the posterior."""

    positions: jax.Array  # (particles, d)
    log_weights: np.ndarray  # (particles,), float64
    inverse_temperature: float
    variance: float  # of log Z, from the weights that resampling has reset


class MoveInfo(NamedTuple):
    """What a move of either kernel tells; NaN for what it does not have."""

    acceptance: float
    kinetic_temperature: float
    num_non_finite: int


Move = Callable[[np.ndarray, jax.Array, float], tuple[jax.Array, MoveInfo]]


def run(model: Model, chunk: Chunk, config: AISConfig, seed: int, report: Report) -> Result:
    """Anneal from the prior to the posterior of all rows."""
    start = time.perf_counter()
    data = jax.device_put(pack_whole(chunk))
    move = _mover(model, data, num_rows(chunk), config.kernel, seed)
    positions = draw_prior(model, config.num_particles, place(seed, 0, 0))
    state = State(positions, np.zeros(config.num_particles), 0.0, 0.0)
    records: list[AISRecord] = []
    status = COMPLETE
    try:
        while state.inverse_temperature < 1.0:
            if time.perf_counter() - start > config.max_seconds:
                status = f"out of time at inverse temperature {state.inverse_temperature:.3g}"
                break
            state, record = _anneal(model, data, config, seed, state, move, len(records))
            records.append(record._replace(seconds=time.perf_counter() - start))
            report(_progress(config, records))
    except KeyboardInterrupt:
        status = f"interrupted at inverse temperature {state.inverse_temperature:.3g}"
    return _result(model, config, state, tuple(records), num_rows(chunk), time.perf_counter() - start, status)


def _anneal(
    model: Model, data: Blocks, config: AISConfig, seed: int, state: State, move: Move, step: int
) -> tuple[State, AISRecord]:
    """One intermediate distribution: weigh, choose the temperature, accumulate, resample, move."""
    here = place(seed, 1, step)
    log_likelihoods, num_failed = usable(likelihood.log_likelihoods(model, state.positions, [data]), at_prior=step == 0)
    chosen = config.next_inverse_temperature(log_likelihoods, state.inverse_temperature, step)
    log_increments = (chosen - state.inverse_temperature) * log_likelihoods
    log_weights = accumulate(state.log_weights, log_increments)
    variance = state.variance + (0.0 if config.resampling is None else log_mean_variance(log_weights))
    positions, log_weights = resample(config.resampling, np.random.default_rng(here), state.positions, log_weights)
    positions, info = move(here, positions, chosen)
    return State(positions, log_weights, chosen, variance), AISRecord(
        inverse_temperature=chosen,
        log_evidence=annealing.log_mean_exp(log_weights),
        ess=annealing.effective_sample_size(log_increments),
        acceptance=info.acceptance,
        kinetic_temperature=info.kinetic_temperature,
        num_non_finite=num_failed + info.num_non_finite,
        seconds=float("nan"),
    )


def _mover(model: Model, data: Blocks, rows: int, kernel: HMC | SGHMC, seed: int) -> Move:
    """The chosen kernel as a function of (place of the random numbers, positions, inverse temperature)."""
    if isinstance(kernel, SGHMC):
        return partial(_sghmc_move, model, data, kernel, kernel.learning_rate / rows)
    return _HMCMover(model, data, kernel, full_data.prior_precision(model, seed))


def _sghmc_move(
    model: Model,
    data: Blocks,
    kernel: SGHMC,
    step_size: float,
    here: np.ndarray,
    positions: jax.Array,
    inverse_temperature: float,
) -> tuple[jax.Array, MoveInfo]:
    moved, info = _compiled_sghmc(model, kernel, here, positions, data, inverse_temperature, step_size)
    return moved, MoveInfo(float("nan"), float(info.kinetic_temperature), int(info.num_non_finite))


class _HMCMover:
    """HMC whose step size goes on from one intermediate distribution to the next."""

    def __init__(self, model: Model, data: Blocks, kernel: HMC, prior_precision: jax.Array) -> None:
        self._move = partial(full_data.move, model, kernel)
        self._data = data
        self._prior_precision = prior_precision
        self._step_size = full_data.FIRST_STEP_SIZE

    def __call__(
        self, here: np.ndarray, positions: jax.Array, inverse_temperature: float
    ) -> tuple[jax.Array, MoveInfo]:
        tempered = self._data._replace(weights=inverse_temperature * self._data.weights)
        moved, info = self._move(here, positions, tempered, self._step_size, self._prior_precision)
        self._step_size = float(info.step_size)
        return jnp.asarray(moved), MoveInfo(float(info.acceptance), float("nan"), int(info.num_non_finite))


@partial(jax.jit, static_argnames=("model", "kernel"))
def _compiled_sghmc(
    model: Model,
    kernel: SGHMC,
    here: jax.Array,
    positions: jax.Array,
    data: Blocks,
    inverse_temperature: float,
    step_size: float,
) -> tuple[jax.Array, sghmc.Info]:
    no_batches = jnp.zeros(kernel.num_steps)
    return sghmc.move(
        key_of(here),
        positions,
        lambda at, _: gradients.full(model, at, data, inverse_temperature),
        no_batches,
        step_size,
        kernel,
    )


def _progress(config: AISConfig, records: list[AISRecord]) -> Progress:
    """The steps left: known for a fixed schedule, else as many as lambda needs at its present rate of growth."""
    last = records[-1]
    if config.schedule is not None:
        left = float(len(config.schedule) - len(records))
    elif len(records) < 2:
        return Progress(0.0, float("nan"), "starting")
    else:
        left = np.log(1.0 / last.inverse_temperature) / np.log(
            last.inverse_temperature / records[-2].inverse_temperature
        )
    fraction = len(records) / (len(records) + left)
    message = f"inverse temperature {last.inverse_temperature:.2g}"
    return Progress(fraction, last.seconds / len(records) * left, message)


def _result(
    model: Model,
    config: AISConfig,
    state: State,
    records: tuple[AISRecord, ...],
    rows: int,
    seconds: float,
    status: str,
) -> Result:
    """A run that did not reach lambda = 1 has no evidence to give."""
    is_complete = status == COMPLETE
    variance = state.variance + log_mean_variance(state.log_weights)
    standard_error = float(np.sqrt(max(variance, 0.0))) if is_complete else float("nan")
    return Result(
        method="ais",
        log_evidence=annealing.log_mean_exp(state.log_weights) if is_complete else float("nan"),
        standard_error=standard_error,
        records=records,
        particles=constrain(model, state.positions),
        log_weights=normalised(state.log_weights),
        num_rows=rows,
        seconds=seconds,
        error_budget={"Monte Carlo": standard_error},
        diagnostics={"temperatures": float(len(records)), "particles": float(config.num_particles)},
        status=status,
    )
