"""One Newton step of a log-likelihood, and how far below its maximum a position can be.

For a self-concordant function whose Newton decrement is l <= 0.68, the maximum is at most l^2 above the value (Boyd and
Vandenberghe, Convex Optimization, 9.6.3), which is twice what the quadratic says; l <= 1/2 is asked for here.
Log-likelihoods of many rows are nearly quadratic over such a distance, so that the factor of two is room for what is
beyond.
"""

from typing import NamedTuple

import numpy as np

from sgais.approximation.taylor import Surrogate

FLAT = 1e-6  # of the largest scaled eigenvalue: a direction that the rows say nothing about, as far as float32 can tell
LARGEST_DECREMENT = 0.5
LEAST_SCALE = 1e-30


class Step(NamedTuple):
    """What the derivatives at a position say.

    Attributes:
        direction: The Newton step, uphill in every direction.
        squared_decrement: Twice the gain that the quadratic promises.
        is_concave: Whether no direction curves upwards.
    """

    direction: np.ndarray
    squared_decrement: float
    is_concave: bool

    @property
    def is_near_maximum(self) -> bool:
        """Whether the maximum is within reach of the bound above."""
        return self.is_concave and self.squared_decrement <= LARGEST_DECREMENT**2


def newton_step(expansion: Surrogate) -> Step | None:
    """The step from an expansion's anchor; None where its derivatives are not finite."""
    gradient, curvature = expansion.gradient, -expansion.hessian
    if not (np.isfinite(expansion.value) and np.isfinite(gradient).all() and np.isfinite(curvature).all()):
        return None
    scales = np.sqrt(np.maximum(np.abs(np.diag(curvature)), LEAST_SCALE))
    values, vectors = np.linalg.eigh(curvature / scales / scales[:, None])
    least = FLAT * max(float(np.abs(values).max()), LEAST_SCALE)
    along = vectors.T @ (gradient / scales)
    sizes = np.maximum(np.abs(values), least)
    direction = (vectors @ (along / sizes)) / scales
    return Step(direction, float(np.sum(along**2 / sizes)), bool((values > -least).all()))
