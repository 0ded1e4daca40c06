"""Particles on islands: groups that are weighed and resampled apart, so that their spread is an error bar.

All islands follow one schedule, chosen from all of them together: islands that choose their own temperatures are
biased low, all alike, and their spread does not show it.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit

from sgais.errors import EstimationError
from sgais.smc import annealing
from sgais.smc.effective_sample_size import ess_fraction
from sgais.smc.weights import Estimate, select

LARGEST_SPREAD = 1.5  # standard deviation of the islands' log evidences
SMALLEST_STEP = 1e-36  # of the inverse temperature: log-likelihoods at draws from a wide prior may differ by that much
LOST = 50.0  # nats below the best island, beyond which it does not matter how far


class Islands(NamedTuple):
    """Weighted particles.

    Attributes:
        positions: Shape (islands, particles, d), float64.
        log_weights: Shape (islands, particles), since the last resampling.
        log_evidences: Of each island, from the last migration to the last resampling.
        booked: Log evidence up to the last migration.
        booked_variance: The variance of that.
    """

    positions: np.ndarray
    log_weights: np.ndarray
    log_evidences: np.ndarray
    booked: float = 0.0
    booked_variance: float = 0.0

    @classmethod
    def of(cls, positions: np.ndarray) -> "Islands":
        """Particles at these positions, shape (islands, particles, d), with weights of one."""
        return cls(np.asarray(positions, np.float64), np.zeros(positions.shape[:2]), np.zeros(len(positions)))

    @property
    def all_positions(self) -> np.ndarray:
        """Shape (islands * particles, d)."""
        return self.positions.reshape(-1, self.positions.shape[-1])

    @property
    def all_log_weights(self) -> np.ndarray:
        """Over all islands, each weighed by its evidence, shape (islands * particles,)."""
        return (self.log_weights + self.log_evidences[:, None]).ravel()

    @property
    def estimate(self) -> Estimate:
        """The running log evidence of all islands together."""
        found = combine(_running(self))
        error = float(np.sqrt(self.booked_variance + found.standard_error**2))
        return Estimate(self.booked + found.log_evidence, error)

    def with_positions(self, positions: np.ndarray) -> "Islands":
        """The same particles elsewhere; `positions` as `all_positions`."""
        return self._replace(positions=np.asarray(positions, np.float64).reshape(self.positions.shape))

    def reweighted(self, log_increments: np.ndarray) -> "Islands":
        """The particles with these factors on their weights, in the shape of either kind of weights."""
        return self._replace(log_weights=self.log_weights + log_increments.reshape(self.log_weights.shape))


def combine(log_evidences: np.ndarray) -> Estimate:
    """The log of the mean of independent estimates of Z, given their logs.

    Where these are close together they are taken for Gaussian: the log of the mean is then their mean plus half
    their variance. Where they are not, it is what it says, and its error is what leaving out one of them changes: if
    all evidence is on one island, which alone has found a mode, then another run may well not find it. The error is
    widened by Student's factor, so that +- 1.96 of it holds 95 % of the time.
    """
    count = len(log_evidences)
    factor = _student_factor(count - 1)
    variance = float(np.var(log_evidences, ddof=1)) if np.isfinite(log_evidences).all() else np.inf
    if variance <= LARGEST_SPREAD**2:
        error = np.sqrt(variance / count + variance**2 / (2 * (count - 1)))
        return Estimate(float(np.mean(log_evidences)) + 0.5 * variance, factor * float(error))
    known = np.maximum(log_evidences, np.max(log_evidences) - LOST)
    without = np.array([annealing.log_mean_exp(np.delete(known, island)) for island in range(count)])
    jackknife = np.sqrt((count - 1) * np.var(without))
    return Estimate(annealing.log_mean_exp(log_evidences), factor * float(jackknife))


def have_diverged(islands: Islands, spread: float = LARGEST_SPREAD) -> bool:
    """Whether the islands differ by so much that some of them are lost: time to migrate."""
    running = _running(islands)
    return not (np.isfinite(running).all() and np.std(running, ddof=1) < spread)


def largest_step(log_weights: np.ndarray, log_likelihoods: np.ndarray, remaining: float, target: float) -> float:
    """The largest step of the inverse temperature that keeps the pooled ESS at its target."""
    step = annealing.largest_step(lambda step: ess_fraction(log_weights + step * log_likelihoods) >= target, remaining)
    if step < SMALLEST_STEP:
        possible = log_likelihoods[np.isfinite(log_likelihoods)]
        raise EstimationError(
            f"annealing is stuck: the particles' log-likelihoods of the next rows differ by {np.ptp(possible):.3g}. "
            "Rescale the data, or look for rows that the model all but rules out."
        )
    return step


def resample(
    islands: Islands, generator: np.random.Generator, num_kept: int | None = None
) -> tuple[Islands, np.ndarray]:
    """Draw each island's particles by their weights (`num_kept` of them if given), and tell which were drawn."""
    size = islands.log_weights.shape[1]
    num_kept = size if num_kept is None else num_kept
    chosen = [select(log_weights, num_kept, generator.random()) for log_weights in islands.log_weights]
    survivors = np.concatenate([number * size + of_island for number, of_island in enumerate(chosen)])
    return _reset(islands, survivors)._replace(log_evidences=_running(islands)), survivors


def migrate(islands: Islands, generator: np.random.Generator) -> tuple[Islands, np.ndarray]:
    """Book the evidence so far, and populate every island anew with particles of all of them."""
    log_weights = islands.all_log_weights
    survivors = select(log_weights, len(log_weights), generator.random())
    generator.shuffle(survivors)
    so_far = islands.estimate
    return _reset(islands, survivors)._replace(
        log_evidences=np.zeros_like(islands.log_evidences),
        booked=so_far.log_evidence,
        booked_variance=so_far.standard_error**2,
    ), survivors


def populated(
    positions: np.ndarray,
    log_weights: np.ndarray,
    shape: tuple[int, ...],
    so_far: Estimate,
    generator: np.random.Generator,
) -> tuple[Islands, np.ndarray]:
    """Islands of the given shape with particles of weighted draws, whose evidence is booked; and which they are."""
    chosen = select(log_weights, shape[0] * shape[1], generator.random())
    generator.shuffle(chosen)
    islands = Islands.of(positions[chosen].reshape(*shape, -1))
    return rebooked(islands, so_far), chosen


def rebooked(islands: Islands, so_far: Estimate) -> Islands:
    """The same particles with another evidence, of which they themselves know nothing."""
    return islands._replace(
        log_weights=islands.log_weights - _log_means(islands.log_weights)[:, None],
        log_evidences=np.zeros_like(islands.log_evidences),
        booked=so_far.log_evidence,
        booked_variance=so_far.standard_error**2,
    )


def booked(islands: Islands, generator: np.random.Generator) -> Islands:
    """Book the evidence so far; every island keeps its particles, unless the islands have diverged."""
    if have_diverged(islands):
        return migrate(islands, generator)[0]
    return rebooked(islands, islands.estimate)


def _running(islands: Islands) -> np.ndarray:
    """The log evidence of each island since the last migration."""
    return islands.log_evidences + _log_means(islands.log_weights)


def _log_means(log_weights: np.ndarray) -> np.ndarray:
    """The log of each island's mean weight: `annealing.log_mean_exp`, for all islands at once."""
    tops = log_weights.max(axis=1)
    known = np.where(np.isfinite(tops), tops, 0.0)
    with np.errstate(divide="ignore"):  # of an island without weights
        means = known + np.log(np.exp(log_weights - known[:, None]).mean(axis=1))
    return np.where(np.isfinite(tops), means, tops)


def _reset(islands: Islands, survivors: np.ndarray) -> Islands:
    """The survivors with weights of one."""
    count = len(islands.positions)
    positions = islands.all_positions[survivors].reshape(count, len(survivors) // count, -1)
    return islands._replace(positions=positions, log_weights=np.zeros(positions.shape[:2]))


@cache
def _student_factor(degrees_of_freedom: int) -> float:
    """With few islands the spread is itself uncertain: the quantile of Student's t over that of a Gaussian."""
    return float(stdtrit(degrees_of_freedom, 0.975) / ndtri(0.975))
