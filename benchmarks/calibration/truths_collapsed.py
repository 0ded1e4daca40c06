"""Gaussian mixtures with the library's prior: sequential Monte Carlo over the labels of rows, the rest integrated out.

Given labels, weights, means and variances are conjugate, so that p(row | rows and labels before it) is a sum of
Student t's. Each particle is one labelling; its weight is the product of these. Where weights get uneven, particles
are resampled and every label is drawn anew given all others (collapsed Gibbs). The estimate of Z is unbiased, so the
mean over replicates is the answer and their spread the error.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, logsumexp

from benchmarks.calibration.problem import Rows, Truth

COLLAPSED = "collapsed SMC"
LARGEST_SPREAD = 0.5  # nats; beyond it few replicates carry the mean, and the error is itself a guess
KAPPA, SHAPE, RATE = 0.25, 1.0, 1.0  # of the prior: means in units of the variance, inverse gamma of the variances


class Cloud(NamedTuple):
    """Labellings, and the sums that their components have."""

    labels: np.ndarray  # (particles, rows)
    counts: np.ndarray  # (particles, K)
    sums: np.ndarray  # (particles, K, dim)
    squares: np.ndarray


def collapsed(
    rows: Rows, components: int, particles: int = 1000, replicates: int = 16, sweeps: int = 1, seed: int = 0
) -> Truth:
    """Log Z of a Gaussian mixture; replicates see the rows in orders of their own."""
    y = rows["y"].astype(np.float64)
    generators = [np.random.default_rng([seed, replicate]) for replicate in range(replicates)]
    logs = np.array(
        [_one(generator.permutation(y), components, particles, sweeps, generator) for generator in generators]
    )
    log_evidence = float(logsumexp(logs) - np.log(replicates))
    ratios = np.exp(logs - log_evidence)
    error, spread = float(ratios.std(ddof=1) / np.sqrt(replicates)), float(logs.std(ddof=1))
    note = f"{replicates} replicates, spread {spread:.3f}"
    return Truth(log_evidence, error, COLLAPSED, note, is_sound=spread < LARGEST_SPREAD)


def _one(y: np.ndarray, components: int, particles: int, sweeps: int, generator: np.random.Generator) -> float:
    shape = (particles, components, y.shape[1])
    cloud = Cloud(
        np.zeros((particles, len(y)), dtype=np.int8), np.zeros(shape[:2], dtype=int), np.zeros(shape), np.zeros(shape)
    )
    table = _gamma_table(len(y))
    log_weights, total = np.zeros(particles), 0.0
    for row in range(len(y)):
        scores = log_predictive(cloud, y[row], table) - np.log(row + components)
        log_weights += logsumexp(scores, axis=1)
        _assign(cloud, row, y[row], _draw(scores, generator))
        share = np.exp(log_weights - log_weights.max())
        if share.sum() ** 2 / np.square(share).sum() < 0.5 * particles and row < len(y) - 1:
            total += logsumexp(log_weights) - np.log(particles)
            log_weights[:] = 0.0
            chosen = _systematic(share / share.sum(), generator)
            for part in cloud:
                part[:] = part[chosen]
            for _ in range(sweeps):
                _sweep(cloud, y[: row + 1], table, generator)
    return float(total + logsumexp(log_weights) - np.log(particles))


def log_predictive(cloud: Cloud, value: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Log (count + 1) and log density of a value in every component of every particle."""
    counts = cloud.counts[:, :, None]
    kappa, shape = KAPPA + counts, SHAPE + 0.5 * counts
    rate = RATE + 0.5 * (cloud.squares - cloud.sums**2 / kappa)
    spread = 2 * rate * (kappa + 1) / kappa
    logs = -0.5 * np.log(np.pi * spread) - (shape + 0.5) * np.log1p((value - cloud.sums / kappa) ** 2 / spread)
    return logs.sum(axis=2) + table[cloud.counts] * len(value) + np.log(cloud.counts + 1)


def _gamma_table(largest: int) -> np.ndarray:
    shape = SHAPE + 0.5 * np.arange(largest + 1)
    return np.asarray(gammaln(shape + 0.5) - gammaln(shape))


def _draw(scores: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    bounds = np.cumsum(np.exp(scores - scores.max(axis=1, keepdims=True)), axis=1)
    chosen = (bounds < generator.random(len(scores))[:, None] * bounds[:, -1:]).sum(axis=1)
    return np.minimum(chosen, scores.shape[1] - 1)


def _assign(cloud: Cloud, row: int, value: np.ndarray, labels: np.ndarray, sign: int = 1) -> None:
    every = np.arange(len(labels))
    cloud.counts[every, labels] += sign
    cloud.sums[every, labels] += sign * value
    cloud.squares[every, labels] += sign * value**2
    cloud.labels[:, row] = labels


def _sweep(cloud: Cloud, y: np.ndarray, table: np.ndarray, generator: np.random.Generator) -> None:
    for row, value in enumerate(y):
        _assign(cloud, row, value, cloud.labels[:, row].astype(int), -1)
        _assign(cloud, row, value, _draw(log_predictive(cloud, value, table), generator))


def _systematic(shares: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    bounds = np.cumsum(shares)
    places = (np.arange(len(shares)) + generator.random()) / len(shares)
    return np.minimum(np.searchsorted(bounds, places), len(shares) - 1)
