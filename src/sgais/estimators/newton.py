"""Damped Newton ascent of a log posterior to a mode.

The Hessian's eigenvalues are taken by absolute value, so that saddles repel, and floored, so that flat directions do
not throw the search out of the data's reach. Of several step lengths the best is taken.
"""

from typing import NamedTuple

import numpy as np

from sgais.estimators.deadline import Deadline
from sgais.estimators.gaussian import Gaussian
from sgais.estimators.posterior import Posterior

STEP_LENGTHS = 4.0 ** -np.arange(8.0)
GRADIENT_TOLERANCE = 1e-2  # of the whitened gradient's norm: the distance to the mode in posterior standard deviations
RELATIVE_FLOOR = 1e-8  # of the largest eigenvalue: what float32 leaves of a Hessian's digits
NOISE = 0.05  # nats that rounding may take from a difference of log densities at a million rows
LARGEST_STEP = 1e4  # whitened; beyond it the quadratic says nothing


class Mode(NamedTuple):
    """Where an ascent ended.

    Attributes:
        position: Shape (d,).
        log_posterior: Log density, not normalised.
        precision: Minus the Hessian, its eigenvalues made positive, shape (d, d).
        is_converged: Whether the gradient vanishes and minus the Hessian was positive definite as it was.
        num_steps: Newton steps, of all ascents that ended here.
        num_starts: Ascents that ended here.
    """

    position: np.ndarray
    log_posterior: float
    precision: np.ndarray
    is_converged: bool
    num_steps: int
    num_starts: int = 1

    @property
    def gaussian(self) -> Gaussian:
        """The Gaussian that touches the density at the mode."""
        return Gaussian(self.position, self.precision)


def climb(posterior: Posterior, position: np.ndarray, max_steps: int, deadline: Deadline) -> Mode:
    """Go up from a position until the gradient vanishes, no step leads higher, or the steps are used up."""
    log_density = posterior.log_densities(position[None])[0]
    for step in range(max_steps + 1):
        deadline.check()
        gradient, hessian = posterior.derivatives(position)
        if not (np.isfinite(gradient).all() and np.isfinite(hessian).all()):
            return Mode(position, -np.inf, np.eye(len(position)), is_converged=False, num_steps=step)
        precision, is_positive = _make_positive(-hessian)
        direction = np.linalg.solve(precision, gradient)
        size = np.sqrt(gradient @ direction)  # the whitened gradient's norm
        if size < GRADIENT_TOLERANCE or step == max_steps:
            break
        candidates = position + STEP_LENGTHS[:, None] * direction * min(1.0, LARGEST_STEP / size)
        values = posterior.log_densities(candidates)
        best = int(np.argmax(values))
        if size**2 < 2 * NOISE and values[0] > log_density - NOISE:
            best = 0  # the gain of size^2 / 2 drowns in rounding: trust the gradient, which does not
        elif values[best] <= log_density:
            break
        position, log_density = candidates[best], values[best]
    is_converged = bool(is_positive and size < GRADIENT_TOLERANCE)
    return Mode(position, float(log_density), precision, is_converged, num_steps=step)


def _make_positive(matrix: np.ndarray) -> tuple[np.ndarray, bool]:
    """The matrix with its eigenvalues taken by absolute value and floored; whether that changed nothing."""
    values, vectors = np.linalg.eigh(matrix)
    floor = max(RELATIVE_FLOOR * np.abs(values).max(), np.finfo(np.float64).tiny)
    positive = np.maximum(np.abs(values), floor)
    return (vectors * positive) @ vectors.T, bool(np.all(values > floor))
