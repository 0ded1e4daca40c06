"""Log Z outright by importance sampling around the surrogates, once the posterior is nearly Gaussian.

Draws come in pairs that mirror each other around a mode, from Student t's a little wider than the surrogates. What a
draw's weight needs to know of the rows is what they say beyond second order, from a sample of them where they are many;
the surrogates themselves, whose integral is known, are a control variate. So what is left to chance is small, and
shrinks as rows grow. Modes with and without particles count alike.
"""

from typing import NamedTuple

import numpy as np

from sgais.approximation import remainder, student_t
from sgais.approximation.gaussian import Gaussian
from sgais.approximation.pareto import tail_shape, unseen_tail
from sgais.approximation.proposal import allocate
from sgais.approximation.rounding import rounding_error
from sgais.approximation.taylor import Normalised, Surrogate
from sgais.compute.label_symmetry import are_in_order, label_order, num_images
from sgais.estimators.default import policy
from sgais.estimators.default.context import UpdateContext
from sgais.models.base import real_dtype
from sgais.smc.effective_sample_size import effective_sample_size
from sgais.smc.weights import Estimate, log_mean_with_control

ROUND_PAIRS = 64
MOST_ROUNDS = 24
FIRST_ROUNDS = 4  # after which it is plain whether draws are any good


class Sampled(NamedTuple):
    """Weighted draws of the posterior.

    Attributes:
        estimate: Log Z and its error.
        positions: Shape (draws, d).
        log_weights: Of the draws.
        modes: The number of the surrogate that each was drawn around.
    """

    estimate: Estimate
    positions: np.ndarray
    log_weights: np.ndarray
    modes: np.ndarray


class _Bank(NamedTuple):
    """The surrogates and what to draw around each."""

    surrogates: tuple[Surrogate, ...]
    normalised: list[Normalised]
    counts: np.ndarray  # pairs of a round

    @property
    def gaussians(self) -> list[Gaussian]:
        return [one.gaussian for one in self.normalised]

    @property
    def log_masses(self) -> np.ndarray:
        log_integrals = np.array([one.log_integral for one in self.normalised])
        return log_integrals - np.logaddexp.reduce(log_integrals)


class _Round(NamedTuple):
    """Draws of one round: (pairs, 2) each, and the noise in the log of their mean from the sampling of rows."""

    positions: np.ndarray
    modes: np.ndarray
    log_weights: np.ndarray
    log_controls: np.ndarray
    noise_variance: float


def draw(
    context: UpdateContext,
    surrogates: tuple[Surrogate, ...],
    normalised: list[Normalised],
    end: int,
    fewest: int = 0,
    most_rounds: int = MOST_ROUNDS,
) -> Sampled | None:
    """Weighted draws around the surrogates of all rows up to the end; None where these are no good for it.

    Args:
        context: Of the update.
        surrogates: One for each mode.
        normalised: The same as Gaussians.
        end: How many rows the surrogates stand for.
        fewest: Draws, at least.
        most_rounds: Of draws, after which what there is has to do.
    """
    log_integrals = np.array([one.log_integral for one in normalised])
    bank = _Bank(surrogates, normalised, allocate(log_integrals, ROUND_PAIRS))
    rounds: list[_Round] = []
    sample = policy.ALL_ROWS if end <= policy.ALL_ROWS else policy.FIRST_SAMPLE
    for _ in range(most_rounds):
        rounds.append(_round(context, bank, end, sample))
        if rounds[-1].noise_variance > policy.GOOD_NOISE**2 and sample < min(end, policy.LARGEST_SAMPLE):
            sample = remainder.larger_sample(sample, end, policy.LARGEST_SAMPLE)
            rounds.clear()
            continue
        if len(rounds) == FIRST_ROUNDS and _is_hopeless(rounds):
            return None
        good = policy.GOOD_DRAWS_ERROR if len(rounds) >= FIRST_ROUNDS else policy.PLAIN_DRAWS_ERROR
        if 2 * ROUND_PAIRS * len(rounds) >= fewest and not _by_chance(rounds).standard_error > good:
            break
    return _sampled(context, rounds, end) if rounds else None


def _round(context: UpdateContext, bank: _Bank, end: int, sample: int) -> _Round:
    positions, modes = _draw(bank, context.keys.generator())
    flat, owners = positions.reshape(-1, positions.shape[-1]), np.repeat(modes, 2)
    log_proposal, log_gaussian = _log_densities(bank, flat)
    steps = remainder.from_anchors(bank.surrogates, owners, flat)
    chosen = context.rows.sample(context.keys.generator(), sample, 0, end)
    beyond = remainder.by_group(context.model, steps, chosen, end)
    log_posterior = beyond.values - 0.5 * beyond.variance + remainder.of_prior(context.model, steps)
    for mode, surrogate in enumerate(bank.surrogates):
        log_posterior[owners == mode] += surrogate.values_at(flat[owners == mode])
    log_weights = log_posterior - log_proposal
    log_weights = np.where(np.isfinite(log_weights), log_weights, -np.inf)
    shares = np.exp(log_weights - log_weights.max())
    noise = beyond.variance_of_mean(shares / shares.sum())
    pairs = (len(modes), 2)
    return _Round(positions, modes, log_weights.reshape(pairs), (log_gaussian - log_proposal).reshape(pairs), noise)


def _draw(bank: _Bank, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (pairs, 2, d), in numbers that the device can hold, and the mode of each."""
    parts, dimension = [], len(bank.surrogates[0].anchor)
    for gaussian, count in zip(bank.gaussians, bank.counts, strict=True):
        offsets = student_t.standard_draws(generator, count, dimension, _freedom(dimension))
        parts.append(np.stack([gaussian.unwhiten(offsets), gaussian.unwhiten(-offsets)], axis=1))
    positions = np.concatenate(parts).astype(real_dtype()).astype(np.float64)
    return positions, np.repeat(np.arange(len(bank.counts)), bank.counts)


def _log_densities(bank: _Bank, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Log densities of the t's that are drawn from, and of the Gaussians that stand for the posterior."""
    freedom = _freedom(positions.shape[1])
    shares = bank.counts / bank.counts.sum()
    students, normals = [], []
    for gaussian, share, log_mass in zip(bank.gaussians, shares, bank.log_masses, strict=True):
        square = gaussian.distances(positions) ** 2
        students.append(np.log(share) + student_t.log_densities(gaussian, square, freedom))
        normals.append(log_mass - gaussian.log_volume - 0.5 * square)
    return np.logaddexp.reduce(students, axis=0), np.logaddexp.reduce(normals, axis=0)


def _freedom(dimension: int) -> float:
    """Degrees of freedom of the t's: more in many dimensions, where heavy tails would hold all draws."""
    return 8.0 + 0.5 * dimension


def _by_chance(rounds: list[_Round]) -> Estimate:
    """Log Z and what more draws or rows would make its error smaller."""
    log_weights = np.concatenate([one.log_weights for one in rounds])
    if np.isneginf(log_weights).all():
        return Estimate(-np.inf, np.inf)
    log_mean, error = log_mean_with_control(log_weights, np.concatenate([one.log_controls for one in rounds]))
    noise = sum(one.noise_variance for one in rounds) / len(rounds) ** 2
    return Estimate(log_mean, float(np.sqrt(error**2 + noise)))


def _is_hopeless(rounds: list[_Round]) -> bool:
    log_weights = np.concatenate([one.log_weights.ravel() for one in rounds])
    return bool(effective_sample_size(log_weights) < 0.5 * policy.SMALLEST_DRAWS_ESS * len(log_weights))


def _sampled(context: UpdateContext, rounds: list[_Round], end: int) -> Sampled | None:
    """All rounds together, or None if their weights are not to be trusted."""
    model = context.model
    positions = np.concatenate([one.positions.reshape(-1, one.positions.shape[-1]) for one in rounds])
    modes = np.concatenate([np.repeat(one.modes, 2) for one in rounds])
    log_weights = np.concatenate([one.log_weights.ravel() for one in rounds])
    found, shape = _by_chance(rounds), tail_shape(log_weights)
    are_enough = effective_sample_size(log_weights) >= policy.SMALLEST_DRAWS_ESS * len(log_weights)
    if not (shape < policy.LARGEST_SHAPE and are_enough):
        return None
    best = positions[np.argmax(log_weights)]
    order = label_order(model, positions[modes == modes[np.argmax(log_weights)]], best)
    if order is not None and np.mean(~are_in_order(model, positions, order)) > policy.LARGEST_OUTSIDE:
        return None
    last_row = context.rows.between(end - 1, end)
    rounding = max(policy.ROUNDING, rounding_error(model, last_row, end, found.log_evidence))
    error = float(np.sqrt(found.standard_error**2 + unseen_tail(log_weights, shape) ** 2 + rounding**2))
    estimate = Estimate(found.log_evidence + float(np.log(num_images(model))), error)
    return Sampled(estimate, positions, log_weights, modes)
