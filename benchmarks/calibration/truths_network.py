"""The neural network: tempering, since nothing Gaussian is near its posterior.

Parameters ~ N(0, 1), y ~ N(outer . tanh(inner x + shift) + bias, sigma). Particles start in all images of the units'
orders and signs alike, so that none has to be crossed into.
"""

import numpy as np

from benchmarks.calibration.problem import Rows, Truth
from benchmarks.calibration.truths_tempered import Target, tempered


def network(
    rows: Rows, units: int, sigma: float, particles: int = 1000, trajectories: int = 10, seed: int = 0
) -> Truth:
    """Log Z of the network."""
    x, y = rows["x"].astype(np.float64), rows["y"].astype(np.float64)
    target = log_likelihood_of(x, y, units, sigma)
    return tempered(target, units * (x.shape[1] + 2) + 1, particles, trajectories, seed=seed)


def log_likelihood_of(x: np.ndarray, y: np.ndarray, units: int, sigma: float) -> Target:
    """The log-likelihood of all rows and its gradient, at many points."""
    inputs = x.shape[1]
    features = np.column_stack([x, np.ones(len(x))]).T  # a column of ones takes the shift

    def evaluate(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        weights = points[:, : units * (inputs + 1)].reshape(-1, units, inputs + 1)
        outer, bias = points[:, units * (inputs + 1) : -1], points[:, -1:]
        hidden = np.tanh(weights @ features)
        residual = (y - (outer[:, None, :] @ hidden)[:, 0] - bias) / sigma
        value = -0.5 * np.square(residual).sum(axis=1) - len(y) * (np.log(sigma) + 0.5 * np.log(2 * np.pi))
        slope = residual / sigma
        inner = ((outer[:, :, None] * slope[:, None, :]) * (1 - hidden**2)) @ features.T
        gradient = [inner.reshape(len(points), -1), (hidden @ slope[:, :, None])[:, :, 0], slope.sum(1, keepdims=True)]
        return value, np.concatenate(gradient, axis=1)

    return evaluate
