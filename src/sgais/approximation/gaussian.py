"""A Gaussian by its centre and precision: the shape of a mode."""

from typing import NamedTuple

import numpy as np


class Gaussian(NamedTuple):
    """A centre (d,) and a precision (d, d)."""

    centre: np.ndarray
    precision: np.ndarray

    @property
    def log_volume(self) -> float:
        """Minus the log density at the centre."""
        dimension = len(self.centre)
        return 0.5 * dimension * float(np.log(2 * np.pi)) - 0.5 * float(np.linalg.slogdet(self.precision)[1])

    def whiten(self, positions: np.ndarray) -> np.ndarray:
        """Positions (..., d) in coordinates in which the Gaussian is standard."""
        return (positions - self.centre) @ np.linalg.cholesky(self.precision)

    def unwhiten(self, coordinates: np.ndarray) -> np.ndarray:
        """The inverse of `whiten`, for coordinates of shape (n, d)."""
        return self.centre + np.linalg.solve(np.linalg.cholesky(self.precision).T, coordinates.T).T

    def distances(self, positions: np.ndarray) -> np.ndarray:
        """How far positions are from the centre, in standard deviations."""
        return np.linalg.norm(self.whiten(positions), axis=-1)


def of_positions(positions: np.ndarray) -> Gaussian | None:
    """The Gaussian of positions (n, d), correlations shrunk; None where they do not spread in all directions."""
    number, dimension = positions.shape
    scales = positions.std(axis=0)
    if not (scales > 0).all():
        return None
    standardised = (positions - positions.mean(axis=0)) / scales
    share = dimension / (number + dimension)
    correlations = (1 - share) * standardised.T @ standardised / number + share * np.eye(dimension)
    return Gaussian(positions.mean(axis=0), np.linalg.inv(correlations) / scales / scales[:, None])
