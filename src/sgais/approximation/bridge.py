"""Log Z by bridge sampling: from draws of a density near the posterior and particles of the posterior itself.

Importance sampling from such a density is at the mercy of the few draws where it lies far below the posterior: while
none is drawn its estimate is too low and its error too small, both at once. Particles have been there. The bridge of
Meng and Wong (Statistica Sinica, 1996) takes no ratio at its face value: draws count where particles are, particles
where draws are. The particles must not be those that the density was fitted to.
"""

from typing import NamedTuple

import numpy as np

from sgais.smc.annealing import effective_sample_size
from sgais.smc.weights import Estimate

ROUNDS = 200
CLOSE = 1e-6  # nats, between two rounds


class Ratios(NamedTuple):
    """Log of the posterior, not normalised, over the density that is drawn from.

    Attributes:
        of_draws: At draws of the density, shape (draws,); -inf where the posterior is zero.
        of_particles: At particles of the posterior, shape (islands, particles).
        log_weights: Of the particles, the same shape, over all islands.
    """

    of_draws: np.ndarray
    of_particles: np.ndarray
    log_weights: np.ndarray


def bridged(ratios: Ratios) -> Estimate:
    """Log Z; its error from the spread of the draws and from leaving out one island after the other."""
    if np.isneginf(ratios.of_draws).all():
        return Estimate(-np.inf, np.inf)
    # Counted from the largest: an absurd row takes log Z to -1e15, where a nat is less than the last digit.
    top = float(max(ratios.of_draws.max(), ratios.of_particles.max()))
    ratios = ratios._replace(of_draws=ratios.of_draws - top, of_particles=ratios.of_particles - top)
    log_evidence = _log_evidence(*ratios)
    count = len(ratios.of_particles)
    without = [
        _log_evidence(ratios.of_draws, *(np.delete(part, island, axis=0) for part in ratios[1:]))
        for island in range(count)
    ]
    by_islands = (count - 1) * float(np.var(without))
    by_draws, by_particles = _variances(ratios, log_evidence)
    return Estimate(top + log_evidence, float(np.sqrt(by_draws + max(by_islands, by_particles))))


def _log_evidence(of_draws: np.ndarray, of_particles: np.ndarray, log_weights: np.ndarray) -> float:
    log_shares = _normalised(log_weights.ravel())
    of_particles = of_particles.ravel()
    found = float(np.logaddexp.reduce(of_draws) - np.log(len(of_draws)))
    for _ in range(ROUNDS):
        last = found
        at_draws, at_particles = _log_bridges(of_draws, of_particles, log_shares, last)
        found = float(np.logaddexp.reduce(at_draws) - np.log(len(of_draws)) - np.logaddexp.reduce(at_particles))
        if not abs(found - last) > CLOSE:
            break
    return found


def _log_bridges(
    of_draws: np.ndarray, of_particles: np.ndarray, log_shares: np.ndarray, log_evidence: float
) -> tuple[np.ndarray, np.ndarray]:
    """What each draw and, by its share, each particle contributes: bounded, where a ratio is not."""
    effective = effective_sample_size(log_shares)
    total = len(of_draws) + effective
    log_particles, log_draws = np.log(effective / total), np.log(len(of_draws) / total) + log_evidence
    at_draws = of_draws - np.logaddexp(log_particles + of_draws, log_draws)
    at_particles = log_shares - np.logaddexp(log_particles + of_particles, log_draws)
    return at_draws, at_particles


def _variances(ratios: Ratios, log_evidence: float) -> tuple[float, float]:
    """Of log Z, by independent draws and by independent particles."""
    log_shares = _normalised(ratios.log_weights.ravel())
    at_draws, at_particles = _log_bridges(ratios.of_draws, ratios.of_particles.ravel(), log_shares, log_evidence)
    relative = np.exp(at_draws - np.logaddexp.reduce(at_draws) + np.log(len(at_draws)))
    parts = np.exp(_normalised(at_particles))  # of what the particles add up to, beside their shares
    return float(np.var(relative) / len(relative)), float(np.sum((parts - np.exp(log_shares)) ** 2))


def _normalised(log_weights: np.ndarray) -> np.ndarray:
    return log_weights - np.logaddexp.reduce(log_weights)
