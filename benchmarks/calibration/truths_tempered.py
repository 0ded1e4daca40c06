"""Sequential Monte Carlo from a standard Gaussian prior to the posterior, with long Hamiltonian moves, in NumPy.

For posteriors that no Gaussian is near. The estimate of Z is unbiased up to the adaptation of temperatures and steps,
so the mean over replicates is the answer and their spread the error.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp

from benchmarks.calibration.problem import Truth

TEMPERED = "tempered SMC"
SHARE = 0.8  # of the particles that a step of the temperature leaves effective
LEAPFROGS = 12
ACCEPTED = 0.8
# The log-likelihood of all rows and its gradient, at many points.
Target: TypeAlias = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def tempered(
    target: Target, dimension: int, particles: int = 1000, trajectories: int = 10, replicates: int = 6, seed: int = 0
) -> Truth:
    """Log Z of a model whose parameters are N(0, 1)."""
    generators = [np.random.default_rng([seed, replicate]) for replicate in range(replicates)]
    logs = np.array([_one(target, dimension, particles, trajectories, generator) for generator in generators])
    log_evidence = float(logsumexp(logs) - np.log(replicates))
    error = float(np.exp(logs - log_evidence).std(ddof=1) / np.sqrt(replicates))
    return Truth(log_evidence, error, TEMPERED, f"{replicates} replicates, spread {logs.std(ddof=1):.3f}")


def _one(
    target: Target,
    dimension: int,
    particles: int,
    trajectories: int,
    generator: np.random.Generator,
) -> float:
    points = generator.normal(size=(particles, dimension))
    value, gradient = target(points)
    temperature, total, step = 0.0, 0.0, 0.2
    while temperature < 1.0:
        rise = _rise(value, 1.0 - temperature)
        temperature = min(1.0, temperature + rise)
        total += float(logsumexp(rise * value) - np.log(particles))
        share = np.exp(rise * (value - value.max()))
        places = (np.arange(particles) + generator.random()) / particles
        chosen = np.minimum(np.searchsorted(np.cumsum(share / share.sum()), places), particles - 1)
        points, value, gradient = points[chosen], value[chosen], gradient[chosen]
        if temperature == 1.0:
            break
        scale = points.std(axis=0)
        for _ in range(trajectories):
            points, value, gradient, accepted = _move(
                target, points, value, gradient, temperature, step * scale, generator
            )
            step *= float(np.exp(0.3 * (accepted - ACCEPTED)))
    return total


def _rise(value: np.ndarray, most: float) -> float:
    def excess(rise: float) -> float:
        share = np.exp(rise * (value - value.max()))
        return float(share.sum() ** 2 / np.square(share).sum() - SHARE * len(value))

    return most if excess(most) >= 0 else float(brentq(excess, 0.0, most))


def _move(
    target: Target,
    points: np.ndarray,
    value: np.ndarray,
    gradient: np.ndarray,
    temperature: float,
    steps: np.ndarray,
    generator: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """One Hamiltonian trajectory of every particle, of random length; `steps` are in each coordinate's own scale."""
    momentum = generator.normal(size=points.shape)
    at, at_value, at_gradient, moving = points, value, gradient, momentum
    size = steps * generator.uniform(0.7, 1.3)
    for _ in range(generator.integers(LEAPFROGS // 2, LEAPFROGS + 1)):
        moving = moving + 0.5 * size * (temperature * at_gradient - at)
        at = at + size * moving
        at_value, at_gradient = target(at)
        moving = moving + 0.5 * size * (temperature * at_gradient - at)
    before = temperature * value - 0.5 * np.square(points).sum(1) - 0.5 * np.square(momentum).sum(1)
    after = temperature * at_value - 0.5 * np.square(at).sum(1) - 0.5 * np.square(moving).sum(1)
    taken = np.log(generator.random(len(points))) < after - before
    kept = taken[:, None]
    return (
        np.where(kept, at, points),
        np.where(taken, at_value, value),
        np.where(kept, at_gradient, gradient),
        float(taken.mean()),
    )
