"""Annealed importance sampling on a whole data set (section 3 of the paper; Neal 1998).

Particles go from the prior to the posterior through p(data | theta)^lambda p(theta); their weights estimate the
evidence. `AISConfig.paper()` is the paper's reference (SGHMC with full gradients); by default the moves have a
Metropolis test, which makes the estimate of Z unbiased for a fixed schedule, and particles are resampled.

Under a wide prior this way leads through a transition in which scales fall by orders of magnitude at once; no moves
keep up with it, and log Z comes out nats too low, though the particles are right in the end. So the default anneals a
second time, by the same rules, from a density fitted to these particles, which has no such transition before it.
"""

import time
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from sgais.compute import gradients
from sgais.compute.blocks import Blocks, pack_whole
from sgais.compute.positions import constrain
from sgais.compute.random_keys import jax_key, random_key
from sgais.errors import EstimationError, require
from sgais.estimators import full_data_hmc
from sgais.estimators.ais.mixing import Families, Lag, lag
from sgais.estimators.ais.ways import FromPrior, FromReference, HMCMove, MoveInfo, Way
from sgais.estimators.annealing_config import AnnealingConfig
from sgais.fields import Chunk, num_rows
from sgais.kernels import HMC, SGHMC, sghmc
from sgais.models.base import Model
from sgais.progress import Progress, Report
from sgais.results.result import COMPLETE, Result
from sgais.smc import annealing
from sgais.smc.weights import accumulate, log_mean_variance, normalised, resample, select, usable

LONG_MOVES = HMC(num_trajectories=30, largest_correlation=0.1)  # as long as it takes to forget the last temperature
FEWEST_PARTICLES = 4  # per parameter, to which a reference can be fitted
MOST_TEMPERATURES = 60  # of the way from the reference, and twice those of the way from the prior
FIRST_SHARE = 0.7  # of the time, which the way from the prior takes
LARGEST_LACK = 0.3  # nats that one way may find less than the other, beside errors
MONTE_CARLO, MIXING = "Monte Carlo", "mixing"
TOO_FAR = "too far"


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
        from_reference: Whether particles are annealed once more, from a density fitted to those that came from the
            prior. Not with a fixed schedule, with `SGHMC`, or with fewer than four particles per parameter.
    """

    num_particles: int = 256
    target_ess_fraction: float = 0.8
    resampling: str | None = "systematic"
    kernel: HMC | SGHMC = field(default_factory=lambda: LONG_MOVES)
    max_seconds: float = float("inf")
    from_reference: bool = True

    @classmethod
    def paper(cls, **changes: Any) -> "AISConfig":
        """As in the paper's experiments: the settings of SGAIS, with the whole data set in every step."""
        published = {
            "num_particles": 10,
            "target_ess_fraction": 0.5,
            "resampling": None,
            "kernel": SGHMC(),
            "from_reference": False,
        }
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
    """Particles on their way to the posterior."""

    positions: jax.Array | np.ndarray  # (particles, d)
    log_weights: np.ndarray  # (particles,), float64
    inverse_temperature: float
    families: Families
    lag: Lag  # of the moves so far
    log_ratios: np.ndarray | None  # of these particles before the last move; None if there was none


class Outcome(NamedTuple):
    """Where a way has led."""

    state: State
    variance: float  # of log Z, as far as chance makes it
    records: tuple[AISRecord, ...]
    status: str  # COMPLETE, or why it ended before

    @property
    def log_evidence(self) -> float:
        """NaN for a way that was not gone to its end."""
        return annealing.log_mean_exp(self.state.log_weights) if self.status == COMPLETE else float("nan")

    @property
    def monte_carlo(self) -> float:
        """The standard error, as far as chance makes it."""
        return float(np.sqrt(max(self.variance, 0.0))) if self.status == COMPLETE else float("nan")

    @property
    def error(self) -> float:
        """All of it."""
        return float(np.hypot(self.monte_carlo, self.state.lag.beyond_chance))


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
        return _result(model, config, found, None, num_rows(chunk), clock)
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
    return _result(model, config, first, second, num_rows(chunk), clock)


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


def _result(model: Model, config: AISConfig, first: Outcome, second: Outcome | None, rows: int, clock: Clock) -> Result:
    """Of the ways that were gone to their end, the one with the smaller error."""
    best = first
    if second is not None and second.status == COMPLETE and (first.state.lag.is_certain or second.error < first.error):
        best = second
    return Result(
        method="ais",
        log_evidence=best.log_evidence,
        standard_error=best.monte_carlo if _is_sghmc(config) else best.error,
        records=first.records,
        particles=constrain(model, best.state.positions),
        log_weights=normalised(best.state.log_weights),
        num_rows=rows,
        seconds=clock.seconds,
        error_budget=_budget(config, best),
        diagnostics={"temperatures": float(len(first.records)), "particles": float(config.num_particles)}
        | ({} if _is_sghmc(config) else _diagnostics(first, second)),
        status=first.status if _is_sghmc(config) else _status(best, first, second),
    )


def _is_sghmc(config: AISConfig) -> bool:
    """Whether moves have no Metropolis test: they change the law of the particles, lag or none."""
    return isinstance(config.kernel, SGHMC)


def _budget(config: AISConfig, best: Outcome) -> dict[str, float]:
    chance = {MONTE_CARLO: best.monte_carlo}
    return chance if _is_sghmc(config) else chance | {MIXING: best.state.lag.beyond_chance}


def _diagnostics(first: Outcome, second: Outcome | None) -> dict[str, float]:
    """Both log evidences, for whoever would rather have the other."""
    found = {}
    for name, one in (("prior", first), ("reference", second)):
        if one is not None:
            found[f"log_evidence_from_{name}"] = one.log_evidence
            found[f"error_from_{name}"] = one.error
            found[f"lag_from_{name}"] = one.state.lag.nats
    return found


def _status(best: Outcome, first: Outcome, second: Outcome | None) -> str:
    """What speaks against the number."""
    if first.status != COMPLETE:
        return first.status
    if second is not None and second.status != COMPLETE:
        return f"{second.status} of the second way: log Z is that of the way from the prior, and nothing has checked it"
    if best.state.lag.is_certain:
        return (
            f"not to be trusted: the moves lag behind the temperatures, which changes log Z by "
            f"{best.state.lag.nats:.1f} nats or more. Longer moves may help: kernel=HMC(num_trajectories=...)"
        )
    other = first if best is second else second
    if other is not None and _is_short(best, other):
        return (
            f"not to be trusted: another way, {'from the prior' if other is first else 'from a reference'}, gave "
            f"log Z = {other.log_evidence:.2f}, and the larger is more likely to be right"
        )
    return COMPLETE


def _is_short(best: Outcome, other: Outcome) -> bool:
    """Whether the other way found more than errors explain.

    Either estimate of Z is as good as unbiased, so that it is e times too large with a probability of 1 / e at most;
    too small it may be by any factor, with any. So nothing is said where the other way found less.
    """
    error = float(np.hypot(best.error, other.error))
    return other.log_evidence - best.log_evidence > LARGEST_LACK + 3 * error
