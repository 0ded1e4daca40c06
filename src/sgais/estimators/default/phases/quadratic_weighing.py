"""Weighing of the particles in the quadratic phase: what the posterior has beyond the quadratic surrogates."""

import numpy as np

from sgais.approximation import remainder
from sgais.approximation.taylor import Normalised
from sgais.estimators.default import policy
from sgais.estimators.default.context import UpdateContext
from sgais.estimators.default.phases import minibatch_moves
from sgais.estimators.default.phases.quadratic_phase import (
    QuadraticPhase,
    followed,
    from_anchors,
    log_growths,
    normalised,
)
from sgais.smc.annealing import log_mean_exp
from sgais.smc.effective_sample_size import ess_fraction
from sgais.smc.islands import Islands


def weigh(
    context: UpdateContext, phase: QuadraticPhase, islands: Islands, end: int
) -> tuple[QuadraticPhase, Islands] | None:
    """Let the particles follow the surrogates and weigh them; None if the weights collapse."""
    now, then = normalised(phase.surrogates), normalised(phase.then)
    assert then is not None
    if now is None:
        return None
    before = islands.all_positions
    after = followed(phase, then, now, before)
    remainders, noise_variance = _remainder_change(context, phase, islands, before, after, end)
    log_weights = _surrogate_change(phase, then, now, before, after) + remainders
    log_weights = np.where(np.isfinite(log_weights), log_weights, -np.inf)
    fraction = ess_fraction(log_weights.reshape(islands.log_weights.shape))
    context.diagnostics.num_weighings += 1
    context.diagnostics.final_ess = fraction
    context.diagnostics.num_non_finite += int(np.isneginf(log_weights).sum())
    if fraction < policy.COLLAPSE:
        return None
    context.diagnostics.kernel_bias += _kernel_bias(phase, then, before, log_weights)
    smallest, largest = policy.GROWTHS
    growth = phase.growth * (0.5 if fraction < 0.5 else 1.5 if fraction > 0.9 else 1.0)
    weighed = (
        islands.with_positions(after)
        .reweighted(log_weights)
        ._replace(booked_variance=islands.booked_variance + noise_variance)
    )
    phase = phase._replace(
        then=phase.surrogates,
        num_rows_then=end,
        growth=min(max(growth, smallest), largest),
        drift=_drift(phase, islands, weighed, float(np.std(remainders[np.isfinite(remainders)])), end),
    )
    return phase, weighed


def _drift(phase: QuadraticPhase, before: Islands, weighed: Islands, spread: float, end: int) -> float:
    """From what a weighing says beyond the surrogates: on the whole, and by its spread over particles."""
    growths = log_growths(phase)
    assert growths is not None, "a surrogate that broke down is not weighed"
    shift = log_mean_exp(weighed.all_log_weights) - log_mean_exp(before.reweighted(growths).all_log_weights)
    latest = max(abs(shift), spread) / np.sqrt(np.log(end / phase.num_rows_then))
    return max(latest, policy.FORGETTING * phase.drift) if np.isfinite(phase.drift) else latest


def _surrogate_change(
    phase: QuadraticPhase, then: list[Normalised], now: list[Normalised], before: np.ndarray, after: np.ndarray
) -> np.ndarray:
    """The log weights that the surrogates give particles which follow them: one number for all of a mode's."""
    change = np.empty(len(before))
    for mode, (new, old) in enumerate(zip(phase.surrogates, phase.then, strict=True)):
        mine = phase.modes == mode
        volumes = now[mode].gaussian.log_volume - then[mode].gaussian.log_volume
        change[mine] = new.values_at(after[mine]) - old.values_at(before[mine]) + volumes
    return change


def _remainder_change(
    context: UpdateContext, phase: QuadraticPhase, islands: Islands, before: np.ndarray, after: np.ndarray, end: int
) -> tuple[np.ndarray, float]:
    """The change of the log posterior beyond second order, of old rows from before to after and of new rows.

    And the variance of its mean from the sampling of rows, which no spread over particles shows.
    """
    to_after, border = from_anchors(phase, after), phase.num_rows_then
    from_before = to_after._replace(before=before)
    shares = np.exp(islands.all_log_weights - log_mean_exp(islands.all_log_weights)) / islands.log_weights.size
    sample = policy.ALL_ROWS if end <= policy.ALL_ROWS else policy.FIRST_SAMPLE
    while True:
        old_rows = context.rows.sample(context.keys.generator(), sample, 0, border)
        old = remainder.by_group(context.model, from_before, old_rows, border)
        new_rows = context.rows.sample(context.keys.generator(), sample, border, end)
        new = remainder.by_group(context.model, to_after, new_rows, end - border)
        variance = old.variance + new.variance
        variance_of_mean = old.variance_of_mean(shares) + new.variance_of_mean(shares)
        is_exact = np.sqrt(np.median(variance)) < policy.LARGEST_NOISE and variance_of_mean < policy.GOOD_NOISE**2
        if is_exact or sample >= min(end, policy.LARGEST_SAMPLE):
            break
        sample = remainder.larger_sample(sample, end, policy.LARGEST_SAMPLE)
    # Noise in a log weight makes the weight too large on average.
    values = old.values + new.values - 0.5 * variance
    return values + remainder.of_prior(context.model, from_before), variance_of_mean


def _kernel_bias(
    phase: QuadraticPhase, then: list[Normalised], positions: np.ndarray, log_weights: np.ndarray
) -> float:
    """The error of log Z from the last move's excess temperature."""
    energies = np.empty(len(positions))
    for mode, old in enumerate(then):
        mine = phase.modes == mode
        energies[mine] = 0.5 * old.gaussian.distances(positions[mine]) ** 2
    return minibatch_moves.temperature_bias(phase.temperature, log_weights, energies)
