"""Laplace's approximation with importance sampling: exact in the limit of draws, and it tells when it is not.

Modes are found by Newton ascents (`modes`), Student t's are put around them (`proposal`), and the mean of the weights
posterior / proposal is the evidence. Laplace's own Gaussian, whose integral is known, is a control variate: what is
left to chance is how the posterior differs from it, which vanishes as rows grow. Built for posteriors with few modes,
which many rows and regular models bring; for others the Pareto shape of the weights raises the alarm.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import jax
import numpy as np

from sgais.approximation.log_posterior import Posterior
from sgais.approximation.modes.mode_search import Limits, searching
from sgais.approximation.modes.newton import climb_all
from sgais.approximation.modes.unseen_modes import Found
from sgais.approximation.pareto import LARGEST_TRUSTED, tail_shape, unseen_tail
from sgais.approximation.proposal import Proposal, allocate, draw_pairs, log_densities
from sgais.compute.blocks import slabs
from sgais.compute.positions import constrain
from sgais.compute.prior_draws import sample_prior
from sgais.errors import EstimationError, require, require_count
from sgais.fields import Chunk, num_rows
from sgais.models.base import Model, real_dtype
from sgais.progress import Deadline, OutOfTime, Progress, Report
from sgais.results.result import COMPLETE, Result
from sgais.smc.effective_sample_size import effective_sample_size
from sgais.smc.weights import log_mean_with_control, normalised

BATCH_PAIRS = 32  # evaluated between two looks at the clock
SMALLEST_ESS = 50.0  # below it the spread of the weights is itself a guess
# Draws up to these nats and Pareto k call for no more. A thousand of them may show k too low by 0.3, so that a k
# between here and 0.7 is settled by more draws, not trusted.
GOOD_ERROR, GOOD_SHAPE = 0.03, 0.3
LARGEST_COUNTED = 0.95  # Pareto k in the error, which beyond means nothing but that log Z should not be believed
MOST_LABELS = 7  # 5040 relabellings of every draw
SEARCH_FRACTION = 0.3  # of the progress bar
ROW_ORDER, DRAWS, PRIOR_DRAWS = 1, 2, 3  # purposes of random numbers; `modes` has 0


RoundReport: TypeAlias = Callable[[float, float], None]  # the part of a round that is done, and the seconds left


@dataclass(frozen=True)
class LaplaceConfig:
    """The parameters of Laplace with importance sampling.

    Attributes:
        num_draws: Importance draws of a round, an even number: half of them mirror the others.
        max_draws: In all, a multiple of `num_draws`; there are more rounds while the weights are too uneven.
        num_starts: Newton ascents per round, each from the best of many draws from the prior.
        max_rounds: Rounds of starts, of which there are more while the best mode was found only once.
        starts: Parameters by name from which to ascend as well, on all rows, where you know what is near the best
            mode: then it is not doubted for having been found but once.
        max_newton_steps: Per ascent.
        degrees_of_freedom: Of the Student t's that are drawn from; less means heavier tails.
        prior_share: Part of the draws that come from the prior.
        max_seconds: If given, the run stops soon after this time, with a result that says so.

    Example:
        >>> data = sgais.simulate.linear_regression(200, dim=2).data
        >>> model = sgais.models.LinearRegression(dim=2)
        >>> sgais.estimate(model, data, method="laplace", config=sgais.LaplaceConfig()).is_complete
        True
    """

    num_draws: int = 1000
    max_draws: int = 16000
    num_starts: int = 16
    max_rounds: int = 4
    starts: Sequence[Mapping[str, Any]] = ()
    max_newton_steps: int = 100
    degrees_of_freedom: float = 8.0
    prior_share: float = 0.05
    max_seconds: float | None = None

    def __post_init__(self) -> None:
        for name in ("num_draws", "max_draws", "num_starts", "max_rounds", "max_newton_steps"):
            require_count(name, getattr(self, name))
        is_even = self.num_draws >= 100 and self.num_draws % 2 == 0
        require(is_even, "num_draws", "be an even number of at least 100", self.num_draws)
        require(self.degrees_of_freedom > 0, "degrees_of_freedom", "be positive", self.degrees_of_freedom)
        is_multiple = self.max_draws % self.num_draws == 0
        require(is_multiple, "max_draws", f"be a multiple of num_draws, {self.num_draws}", self.max_draws)
        require(0 <= self.prior_share < 1, "prior_share", "be at least 0 and below 1", self.prior_share)
        has_time = self.max_seconds is None or self.max_seconds > 0
        require(has_time, "max_seconds", "be None or positive", self.max_seconds)


class ModeRecord(NamedTuple):
    """One mode, relabelled images included.

    Attributes:
        log_posterior: Log density on R^d at the mode, not normalised.
        log_evidence_laplace: Log of the integral of the Gaussian that touches the density there.
        num_starts: Ascents that ended there.
        is_converged: Whether it is a mode beyond doubt.
    """

    log_posterior: float
    log_evidence_laplace: float
    num_starts: int
    is_converged: bool


class Draws(NamedTuple):
    """Importance draws: positions (pairs, 2, d), log weights and log control variate (pairs, 2)."""

    positions: np.ndarray
    log_weights: np.ndarray
    log_controls: np.ndarray


def run(model: Model, chunk: Chunk, config: LaplaceConfig, seed: int, report: Report) -> Result:
    """Find the modes, draw, weigh. Ctrl-C or the time limit leave a result that says what it lacks."""
    return run_on(lambda: _prepare(model, chunk, seed), model, num_rows(chunk), config, seed, report)


def run_on(
    prepare: Callable[[], Posterior], model: Model, rows: int, config: LaplaceConfig, seed: int, report: Report
) -> Result:
    """The same on any posterior of so many rows."""
    _check_labels(model)
    deadline = Deadline(config.max_seconds)
    found = Found((), np.zeros(0), 0, 0)
    try:
        posterior = prepare()
        report(Progress(0.0, float("nan"), "looking for modes"))
        for found in _search(posterior, config, seed, deadline):
            report(Progress(SEARCH_FRACTION, float("nan"), f"{len(found.modes)} modes"))
        draws = _draw(posterior, _propose(found, config), config, seed, deadline, report)
    except KeyboardInterrupt:
        return _stopped(found, "interrupted", rows, deadline)
    except OutOfTime:
        return _stopped(found, f"stopped after {config.max_seconds} s", rows, deadline)
    report(Progress(1.0, 0.0, "done"))
    return _result(model, config, found, draws, rows, deadline)


def _search(posterior: Posterior, config: LaplaceConfig, seed: int, deadline: Deadline) -> Iterator[Found]:
    given = [_position(posterior.model, parameters) for parameters in config.starts]
    known = climb_all(posterior, np.array(given), config.max_newton_steps, deadline) if given else []
    limits = Limits(config.num_starts, config.max_rounds, max_steps=config.max_newton_steps)
    return searching(posterior, limits, seed, deadline, known=known)


def _position(model: Model, parameters: Mapping[str, Any]) -> np.ndarray:
    missing = [name for name in model.prior if name not in parameters]
    cure = f"The model's parameters: {list(model.prior)}."
    require(not missing, "starts", "name every parameter", sorted(parameters), cure)
    return np.asarray(model.unconstrain(parameters), np.float64)


def _prepare(model: Model, chunk: Chunk, seed: int) -> Posterior:
    """All rows on the device, in random order so that the first of them stand for all."""
    order = np.random.default_rng([seed, ROW_ORDER]).permutation(num_rows(chunk))
    return Posterior(model, jax.device_put(slabs({name: values[order] for name, values in chunk.items()})))


def _propose(found: Found, config: LaplaceConfig) -> Proposal:
    from_prior = round(config.prior_share * config.num_draws / 2)
    return Proposal(
        [mode.gaussian for mode in found.modes],
        found.log_evidences - np.logaddexp.reduce(found.log_evidences),
        np.append(allocate(found.log_evidences, config.num_draws // 2 - from_prior), from_prior),
        config.degrees_of_freedom,
    )


def _draw(
    posterior: Posterior,
    proposal: Proposal,
    config: LaplaceConfig,
    seed: int,
    deadline: Deadline,
    report: Report,
) -> Draws:
    """Draw, and draw again while the weights are too uneven and draws are left.

    The proposal stays what it is: fitted to its own weighted draws and pooled with them (adaptive multiple importance
    sampling) it would give smaller standard errors, and log Z too low by ten of them.
    """
    rounds: list[Draws] = []
    for number in range(config.max_draws // config.num_draws):
        positions = _positions(posterior.model, proposal, seed, number)
        rounds.append(_weigh(posterior, proposal, positions, deadline, partial(_report_round, report, number)))
        draws = Draws(*(np.concatenate(parts) for parts in zip(*rounds, strict=True)))
        if _is_good(draws):
            break
    if np.isneginf(draws.log_weights).all():
        raise EstimationError(
            "the posterior is zero or not a number at every draw. Check the data for values that the model rules out."
        )
    return draws


def _positions(model: Model, proposal: Proposal, seed: int, number: int) -> np.ndarray:
    """Pairs of draws from one proposal, shape (pairs, 2, d)."""
    around_modes = draw_pairs(np.random.default_rng([seed, DRAWS, number]), proposal)
    from_prior = sample_prior(model, 2 * int(proposal.counts[-1]), seed, PRIOR_DRAWS, number)
    return np.concatenate([around_modes.astype(real_dtype()), from_prior.reshape(-1, 2, model.dimension)])


def _weigh(
    posterior: Posterior, proposal: Proposal, pairs: np.ndarray, deadline: Deadline, report: RoundReport
) -> Draws:
    flat = pairs.reshape(-1, pairs.shape[-1])
    densities = log_densities(posterior.model, flat, proposal)
    log_weights = _log_posteriors(posterior, flat, deadline, report) - densities.log_proposal
    log_controls = densities.log_gaussian - densities.log_proposal
    return Draws(pairs, log_weights.reshape(-1, 2), log_controls.reshape(-1, 2))


def _is_good(draws: Draws) -> bool:
    if np.isneginf(draws.log_weights).all():
        return False
    _, error = log_mean_with_control(draws.log_weights, draws.log_controls)
    return error <= GOOD_ERROR and tail_shape(draws.log_weights.ravel()) <= GOOD_SHAPE


def _log_posteriors(posterior: Posterior, positions: np.ndarray, deadline: Deadline, report: RoundReport) -> np.ndarray:
    parts, start_seconds = [], deadline.seconds
    for start in range(0, len(positions), 2 * BATCH_PAIRS):
        deadline.check()
        parts.append(posterior.log_densities(positions[start : start + 2 * BATCH_PAIRS]))
        done = min(1.0, (start + 2 * BATCH_PAIRS) / len(positions))
        seconds_left = (deadline.seconds - start_seconds) * (1 / done - 1)
        report(done, seconds_left)
    return np.concatenate(parts)


def _report_round(report: Report, number: int, done: float, seconds_left: float) -> None:
    """Nobody knows how many rounds there will be, so each takes half of the bar that is left."""
    left = (1 - SEARCH_FRACTION) * 0.5**number * (1 - done / 2)
    report(Progress(1 - left, seconds_left, f"weighing draws, round {number + 1}"))


def _result(model: Model, config: LaplaceConfig, found: Found, draws: Draws, rows: int, deadline: Deadline) -> Result:
    pareto_k = tail_shape(draws.log_weights.ravel())
    ess = effective_sample_size(draws.log_weights.ravel())
    log_z, error = log_mean_with_control(draws.log_weights, draws.log_controls)
    log_weights = draws.log_weights.ravel()
    error = float(np.hypot(error, unseen_tail(log_weights, min(pareto_k, LARGEST_COUNTED))))
    diagnostics = _search_diagnostics(found) | {
        "pareto_k": pareto_k,
        "effective_sample_size": ess,
        "num_impossible": float(np.isneginf(log_weights).sum()),
    }
    return Result(
        method="laplace",
        log_evidence=log_z,
        standard_error=error,
        records=_records(found),
        particles=constrain(model, draws.positions.reshape(-1, model.dimension)),
        log_weights=normalised(log_weights),
        num_rows=rows,
        seconds=deadline.seconds,
        diagnostics=diagnostics,
        status=_judge(found, pareto_k, ess, is_given=bool(config.starts)),
    )


def _judge(found: Found, pareto_k: float, ess: float, is_given: bool) -> str:
    """Complete, or all the reasons why the number should not be believed."""
    doubts = []
    if found.doubt is not None and not (is_given and found.modes[0].is_converged):
        doubts.append(found.doubt)
    if pareto_k > LARGEST_TRUSTED:
        doubts.append(f"Pareto k = {pareto_k:.2f} > {LARGEST_TRUSTED}, the posterior is far from Gaussian")
    if ess < SMALLEST_ESS:
        doubts.append(f"effective sample size {ess:.0f} < {SMALLEST_ESS:.0f}, raise num_draws")
    return f"not to be trusted: {'; '.join(doubts)}" if doubts else COMPLETE


def _stopped(found: Found, why: str, rows: int, deadline: Deadline) -> Result:
    """Plain Laplace on the modes that are known, or nothing."""
    diagnostics = _search_diagnostics(found) if found.modes else {}
    what = "log Z is Laplace's approximation on the modes found so far, its error unknown"
    return Result(
        method="laplace",
        log_evidence=diagnostics.get("log_evidence_laplace", float("nan")),
        standard_error=float("nan"),
        records=_records(found),
        particles={},
        log_weights=np.zeros(0),
        num_rows=rows,
        seconds=deadline.seconds,
        diagnostics=diagnostics,
        status=f"{why}; {what if found.modes else 'no mode was found yet'}",
    )


def _search_diagnostics(found: Found) -> dict[str, float]:
    return {
        "log_evidence_laplace": float(np.logaddexp.reduce(found.log_evidences)),
        "num_modes": float(len(found.modes)),
        "num_newton_steps": float(sum(mode.num_steps for mode in found.modes)),
        "num_searches": float(found.num_searches),
        "unseen_share": found.unseen_share,
    }


def _records(found: Found) -> tuple[ModeRecord, ...]:
    return tuple(
        ModeRecord(mode.log_posterior, float(evidence), mode.num_starts, mode.is_converged)
        for mode, evidence in zip(found.modes, found.log_evidences, strict=True)
    )


def _check_labels(model: Model) -> None:
    if model.num_labels > MOST_LABELS:
        raise EstimationError(
            f"Laplace goes through all orders of at most {MOST_LABELS} exchangeable components, got "
            f"{model.num_labels}. Use another method."
        )
