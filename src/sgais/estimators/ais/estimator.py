"""Annealed importance sampling on a whole data set (section 3 of the paper; Neal 1998).

Particles go from the prior to the posterior through p(data | theta)^lambda p(theta); their weights estimate the
evidence. `AISConfig.paper()` is the paper's reference (SGHMC with full gradients); by default the moves have a
Metropolis test, which makes the estimate of Z unbiased for a fixed schedule, and particles are resampled.

Under a wide prior this way leads through a transition in which scales fall by orders of magnitude at once; no moves
keep up with it, and log Z comes out nats too low, though the particles are right in the end. So the default anneals a
second time, by the same rules, from a density fitted to these particles, which has no such transition before it.
"""

import time
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from sgais.compute import gradients
from sgais.compute.blocks import Blocks, pack_whole
from sgais.compute.random_keys import jax_key, random_key
from sgais.errors import EstimationError
from sgais.estimators import full_data_hmc
from sgais.estimators.ais.config import AISConfig
from sgais.estimators.ais.mixing import Families, Lag, lag
from sgais.estimators.ais.result import result_of
from sgais.estimators.ais.state import AISRecord, Outcome, State
from sgais.estimators.ais.ways import FromPrior, FromReference, HMCMove, MoveInfo, Way
from sgais.fields import Chunk, num_rows
from sgais.kernels import SGHMC, sghmc
from sgais.models.base import Model
from sgais.progress import Progress, Report
from sgais.results.result import COMPLETE, Result
from sgais.smc import annealing
from sgais.smc.weights import accumulate, log_mean_variance, resample, select, usable

FEWEST_PARTICLES = 4  # per parameter, to which a reference can be fitted
MOST_TEMPERATURES = 60  # of the way from the reference, and twice those of the way from the prior
FIRST_SHARE = 0.7  # of the time, which the way from the prior takes
TOO_FAR = "too far"


class Clock(NamedTuple):
    """How long a run has taken, and may."""

    start: float
    max_seconds: float

    @property
    def seconds(self) -> float:
        """Since the start."""
        return time.perf_counter() - self.start


def run(model: Model, chunk: Chunk, config: AISConfig, seed: int, report: Report) -> Result:
    """Anneal from the prior to the posterior of all rows and, if so configured, from what the particles have found."""
    clock = Clock(time.perf_counter(), config.max_seconds)
    data = jax.device_put(pack_whole(chunk))
    if isinstance(config.kernel, SGHMC):
        by_sghmc = partial(_sghmc_move, model, data, config.kernel, config.kernel.learning_rate / num_rows(chunk))
        found = _go(FromPrior(model, data, by_sghmc), config, seed, clock, report)
        return result_of(model, config, found, None, num_rows(chunk), clock.seconds)
    precision = full_data_hmc.prior_precision(model, seed)
    is_twice = config.from_reference and config.schedule is None
    is_twice = is_twice and config.num_particles >= FEWEST_PARTICLES * model.dimension
    begin = FromPrior(model, data, HMCMove(model, data, config.kernel, precision))
    share = FIRST_SHARE if is_twice else 1.0
    first, second = _go(begin, config, seed, clock, partial(_part, report, 0.0, share)), None
    particles = _of_equal_weight(first.state)
    if is_twice and first.status == COMPLETE and (particles.std(axis=0) > 0).all():
        way = FromReference(model, data, config.kernel, precision, particles, seed)
        second = _second(way, config, seed, clock, partial(_part, report, share, 1.0), len(first.records))
    return result_of(model, config, first, second, num_rows(chunk), clock.seconds)


def _of_equal_weight(state: State) -> np.ndarray:
    return np.asarray(state.positions)[select(state.log_weights, len(state.log_weights), 0.5)]


def _second(
    way: FromReference, config: AISConfig, seed: int, clock: Clock, report: Report, num_first: int
) -> Outcome | None:
    """The way from a reference; None if that is so far from the posterior that it is no shortcut."""
    try:
        found = _go(way, config, seed, clock, report, MOST_TEMPERATURES + 2 * num_first)
    except EstimationError:
        return None
    return None if found.status == TOO_FAR else found


def _go(way: Way, config: AISConfig, seed: int, clock: Clock, report: Report, most: float = float("inf")) -> Outcome:
    """All of a way."""
    begun = clock.seconds
    start = way.draw(config.num_particles, seed)
    log_weights = np.full(config.num_particles, start.log_mass)
    state = State(start.positions, log_weights, 0.0, Families.of(config.num_particles), Lag(), None)
    records: list[AISRecord] = []
    status = COMPLETE
    try:
        while state.inverse_temperature < 1.0:
            if clock.seconds > clock.max_seconds:
                status = f"out of time at inverse temperature {state.inverse_temperature:.3g}"
                break
            if len(records) >= most:
                status = TOO_FAR
                break
            state, record = _anneal(way, config, state, random_key(seed, way.number, len(records)), len(records))
            records.append(record._replace(seconds=clock.seconds))
            report(_progress(config, records, begun))
    except KeyboardInterrupt:
        status = f"interrupted at inverse temperature {state.inverse_temperature:.3g}"
    variance = log_mean_variance(state.log_weights) if config.resampling is None else state.families.variance
    return Outcome(state, start.variance + variance, tuple(records), status)


def _anneal(way: Way, config: AISConfig, state: State, key: np.ndarray, step: int) -> tuple[State, AISRecord]:
    """One intermediate distribution: weigh, choose the temperature, accumulate, resample, move."""
    log_ratios, num_failed = usable(way.log_ratios(state.positions), at_prior=False)
    chosen = config.next_inverse_temperature(log_ratios, state.inverse_temperature, step)
    size = chosen - state.inverse_temperature
    log_weights = accumulate(state.log_weights, size * log_ratios)
    left = Lag() if state.log_ratios is None else lag(state.log_weights, size * state.log_ratios, size * log_ratios)
    families = state.families.weighed(state.log_weights, log_weights)
    everyone = jnp.arange(config.num_particles)
    alive, log_weights = resample(config.resampling, np.random.default_rng(key), everyone, log_weights)
    survivors = np.asarray(alive)
    moved, info = way.move(key, state.positions[survivors], chosen)
    families, before = families.resampled(survivors), log_ratios[survivors]
    return State(moved, log_weights, chosen, families, state.lag.plus(left), before), AISRecord(
        inverse_temperature=chosen,
        log_evidence=annealing.log_mean_exp(log_weights),
        ess=annealing.effective_sample_size(size * log_ratios),
        acceptance=info.acceptance,
        kinetic_temperature=info.kinetic_temperature,
        num_non_finite=num_failed + info.num_non_finite,
        seconds=float("nan"),
    )


def _sghmc_move(
    model: Model,
    data: Blocks,
    kernel: SGHMC,
    step_size: float,
    key: np.ndarray,
    positions: jax.Array | np.ndarray,
    inverse_temperature: float,
) -> tuple[jax.Array, MoveInfo]:
    moved, info = _compiled_sghmc(model, kernel, key, positions, data, inverse_temperature, step_size)
    return moved, MoveInfo(float("nan"), float(info.kinetic_temperature), int(info.num_non_finite))


@partial(jax.jit, static_argnames=("model", "kernel"))
def _compiled_sghmc(
    model: Model,
    kernel: SGHMC,
    key: jax.Array,
    positions: jax.Array,
    data: Blocks,
    inverse_temperature: float,
    step_size: float,
) -> tuple[jax.Array, sghmc.Info]:
    no_batches = jnp.zeros(kernel.num_steps)
    return sghmc.move(
        jax_key(key),
        positions,
        lambda at, _: gradients.full(model, at, data, inverse_temperature),
        no_batches,
        step_size,
        kernel,
    )


def _progress(config: AISConfig, records: list[AISRecord], begun: float) -> Progress:
    """The steps left: known for a fixed schedule, else as many as lambda needs at its present rate of growth."""
    last = records[-1]
    if last.inverse_temperature == 1.0:
        left = 0.0
    elif config.schedule is not None:
        left = float(len(config.schedule) - len(records))
    elif len(records) < 2:
        return Progress(0.0, float("nan"), "starting")
    else:
        left = np.log(1.0 / last.inverse_temperature) / np.log(
            last.inverse_temperature / records[-2].inverse_temperature
        )
    fraction = len(records) / (len(records) + left)
    message = f"inverse temperature {last.inverse_temperature:.2g}"
    return Progress(fraction, (last.seconds - begun) / len(records) * left, message)


def _part(report: Report, begin: float, end: float, progress: Progress) -> None:
    """Report the progress of one of two ways as that of the run."""
    if begin > 0 and np.isnan(progress.seconds_left):
        return  # the second way has only begun, and nothing that was said before has changed
    report(progress._replace(fraction=begin + (end - begin) * progress.fraction))
