"""Damped Newton ascents of a log posterior to its modes, many at a time.

Coordinates come in all units (a slope per year, an intercept in euros), so each Hessian is first brought to rows of one
size. Its eigenvalues are then taken by absolute value, so that saddles repel, and floored, so that flat directions do
not throw the search out of the data's reach. Of several step lengths the best is taken.
"""

from typing import NamedTuple

import numpy as np

from sgais.approximation.gaussian import Gaussian
from sgais.approximation.log_posterior import Posterior
from sgais.progress import Deadline

STEP_LENGTHS = 4.0 ** -np.arange(8.0)  # the full step first
GRADIENT_TOLERANCE = 1e-2  # of the whitened gradient's norm: the distance to the mode in posterior standard deviations
RELATIVE_FLOOR = 1e-8  # of the largest eigenvalue: what float32 leaves of a Hessian's digits
# What rounding may do to a difference of log densities, in nats and relative to them: a coefficient that is rounded is
# so for all rows.
NOISE, RELATIVE_NOISE = 0.05, 5e-7
EQUILIBRATIONS = 8  # each halves the digits by which the rows of a Hessian differ in size


class Mode(NamedTuple):
    """Where an ascent ended.

    Attributes:
        position: Shape (d,).
        log_posterior: Log density, not normalised.
        precision: Minus the Hessian, its eigenvalues made positive, shape (d, d).
        is_converged: Whether the gradient vanishes and minus the Hessian was positive definite as it was.
        num_steps: Newton steps, of all ascents that ended here.
        num_starts: Ascents that ended here and knew nothing of each other.
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


class _Newton(NamedTuple):
    """What the derivatives say at each of n positions."""

    precisions: np.ndarray  # (n, d, d), made positive
    is_positive: np.ndarray  # (n,), whether they were so before
    directions: np.ndarray  # (n, d)
    sizes: np.ndarray  # (n,), the whitened gradients' norms; nan where a derivative is not finite


def climb(posterior: Posterior, position: np.ndarray, max_steps: int, deadline: Deadline) -> Mode:
    """Go up from one position, see `climb_all`."""
    return climb_all(posterior, position[None], max_steps, deadline)[0]


def climb_all(posterior: Posterior, positions: np.ndarray, max_steps: int, deadline: Deadline) -> list[Mode]:
    """Go up from each position until the gradient vanishes, no step leads higher, or the steps are used up."""
    positions = np.array(positions, np.float64)
    heights = posterior.log_densities(positions)
    modes: dict[int, Mode] = {}
    active = np.arange(len(positions))
    for step in range(max_steps + 1):
        if len(active) == 0:
            break
        deadline.check()
        newton = _newton(*posterior.derivatives(positions[active]))
        is_there = (newton.sizes < GRADIENT_TOLERANCE) | np.isnan(newton.sizes) | (step == max_steps)
        is_stuck = np.zeros(len(active), bool)
        going = np.flatnonzero(~is_there)
        if len(going):
            better = _ascend(posterior, positions[active[going]], heights[active[going]], newton, going)
            is_stuck[going] = ~better.is_found
            moving = active[going[better.is_found]]
            positions[moving], heights[moving] = better.positions, better.heights
        is_last = is_stuck | (step == max_steps)
        for index in np.flatnonzero(is_there | is_stuck):
            start = active[index]
            modes[int(start)] = _mode(positions[start], heights[start], newton, int(index), bool(is_last[index]), step)
        active = active[~(is_there | is_stuck)]
    return [modes[start] for start in range(len(positions))]


class _Better(NamedTuple):
    """The best steps from some positions, and of those that found one where it leads."""

    is_found: np.ndarray
    positions: np.ndarray
    heights: np.ndarray


def _ascend(
    posterior: Posterior, positions: np.ndarray, heights: np.ndarray, newton: _Newton, indices: np.ndarray
) -> _Better:
    """From each position the best of several steps along its Newton direction."""
    sizes, directions = newton.sizes[indices], newton.directions[indices]
    candidates = positions[:, None] + STEP_LENGTHS[:, None] * directions[:, None]
    values = posterior.log_densities(candidates.reshape(-1, positions.shape[1])).reshape(len(indices), -1)
    best = values.argmax(axis=1)
    # Where the gain of size^2 / 2 drowns in rounding, trust the gradient, which does not.
    is_close = (sizes**2 < 2 * _noise(heights)) & (values[:, 0] > heights - _noise(heights))
    best[is_close] = 0
    rows = np.arange(len(indices))
    is_found = is_close | (values[rows, best] > heights)
    return _Better(is_found, candidates[rows, best][is_found], values[rows, best][is_found])


def _mode(position: np.ndarray, height: float, newton: _Newton, index: int, is_stuck: bool, num_steps: int) -> Mode:
    if np.isnan(newton.sizes[index]):
        return Mode(position.copy(), -np.inf, np.eye(len(position)), is_converged=False, num_steps=num_steps)
    # Where no step leads higher than rounding can tell, this is as near to the mode as one can get.
    tolerance = np.sqrt(2 * _noise(height)) if is_stuck else GRADIENT_TOLERANCE
    is_converged = bool(newton.is_positive[index] and newton.sizes[index] < tolerance)
    return Mode(position.copy(), float(height), newton.precisions[index], is_converged, num_steps)


def _noise(heights: np.ndarray | float) -> np.ndarray:
    return NOISE + RELATIVE_NOISE * np.abs(heights)


def _newton(gradients: np.ndarray, hessians: np.ndarray) -> _Newton:
    is_finite = np.isfinite(gradients).all(axis=1) & np.isfinite(hessians).all(axis=(1, 2))
    gradients = np.where(is_finite[:, None], gradients, 0.0)
    matrices = np.where(is_finite[:, None, None], -hessians, np.eye(hessians.shape[1]))
    scales = _scales(matrices)
    values, vectors = np.linalg.eigh(matrices / scales[:, :, None] / scales[:, None, :])
    floors = np.maximum(RELATIVE_FLOOR * np.abs(values).max(axis=1), np.finfo(np.float64).tiny)[:, None]
    positive = np.maximum(np.abs(values), floors)
    scaled = vectors * scales[:, :, None]
    precisions = np.einsum("nij,nj,nkj->nik", scaled, positive, scaled)
    whitened = np.einsum("nij,ni->nj", vectors, gradients / scales) / np.sqrt(positive)
    directions = np.einsum("nij,nj->ni", vectors, whitened / np.sqrt(positive)) / scales
    sizes = np.where(is_finite, np.linalg.norm(whitened, axis=1), np.nan)
    return _Newton(precisions, (values > floors).all(axis=1), directions, sizes)


def _scales(matrices: np.ndarray) -> np.ndarray:
    """Units of the coordinates in which every row of each matrix has a largest entry of one (Ruiz's equilibration).

    Unlike the diagonal alone they are good where a curvature happens to vanish on its way from one sign to the other.
    """
    scales = np.ones(matrices.shape[:2])
    for _ in range(EQUILIBRATIONS):
        largest = np.abs(matrices / scales[:, :, None] / scales[:, None, :]).max(axis=2)
        scales = scales * np.sqrt(np.where(largest > 0, largest, 1.0))
    return scales
