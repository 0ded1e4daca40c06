"""What importance sampling draws from: a Student t around every mode, and a few draws from the prior.

The t's have heavier tails than a posterior near its Gaussian limit. The prior's draws bound the weights by the largest
likelihood over their share, and may land on a mode that the search missed. Every density is symmetric under the
relabellings of the model: its average over the images of a position, so that a draw counts for all labellings, also
where they overlap.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from sgais.approximation import student_t
from sgais.approximation.gaussian import Gaussian
from sgais.compute.label_symmetry import images, num_images
from sgais.compute.positions import log_priors
from sgais.models.base import Model, real_dtype

IMAGES_AT_ONCE = 2**17


class Proposal(NamedTuple):
    """Student t's shaped by Gaussians, and the prior.

    Attributes:
        gaussians: One for each mode.
        log_masses: Log of the posterior's share of each, normalised.
        counts: Pairs of draws that come from each, and last from the prior.
        degrees_of_freedom: Of the t's.
    """

    gaussians: list[Gaussian]
    log_masses: np.ndarray
    counts: np.ndarray
    degrees_of_freedom: float


class Densities(NamedTuple):
    """Log densities at draws, each of shape (draws,)."""

    log_proposal: np.ndarray
    log_gaussian: np.ndarray  # of the mixture of the Gaussians themselves, which stands for the posterior


class _Images(NamedTuple):
    """What is known of a batch of positions and their images."""

    positions: np.ndarray  # (batch, images, d), float64, the position itself first
    log_jacobians: np.ndarray  # (batch, images), -inf for an image that cannot be computed
    log_prior: np.ndarray  # (batch,)


def allocate(log_masses: np.ndarray, num_pairs: int) -> np.ndarray:
    """Pairs of draws for each mode."""
    # Square roots, since Laplace's evidences may be off by nats: a mode that he underrates still gets its draws.
    shares = np.exp(0.5 * (log_masses - log_masses.max()))
    counts = np.maximum(1, np.floor(shares / shares.sum() * num_pairs)).astype(int)
    counts[np.argmax(counts)] += num_pairs - counts.sum()
    return counts


def draw_pairs(generator: np.random.Generator, proposal: Proposal) -> np.ndarray:
    """Draws from the t's in pairs that mirror each other, shape (pairs, 2, d): a pair's mean cancels skewness."""
    parts, freedom = [], proposal.degrees_of_freedom
    for gaussian, count in zip(proposal.gaussians, proposal.counts[:-1], strict=True):
        offsets = student_t.standard_draws(generator, count, len(gaussian.centre), freedom)
        parts.append(np.stack([gaussian.unwhiten(offsets), gaussian.unwhiten(-offsets)], axis=1))
    return np.concatenate(parts)


def log_densities(model: Model, positions: np.ndarray, proposal: Proposal) -> Densities:
    """The densities at positions (draws, d)."""
    shares, masses = proposal.counts / proposal.counts.sum(), np.exp(proposal.log_masses)
    log_proposal, log_gaussian = [], []
    for batch in _images(model, positions):
        squares = [gaussian.distances(batch.positions) ** 2 for gaussian in proposal.gaussians]
        students = [
            student_t.log_densities(gaussian, square, proposal.degrees_of_freedom)
            for gaussian, square in zip(proposal.gaussians, squares, strict=True)
        ]
        normals = [-g.log_volume - 0.5 * square for g, square in zip(proposal.gaussians, squares, strict=True)]
        with np.errstate(divide="ignore"):
            from_prior = np.log(shares[-1]) + batch.log_prior
        log_proposal.append(np.logaddexp(_average(batch, students, shares[:-1]), from_prior))
        log_gaussian.append(_average(batch, normals, masses))
    return Densities(np.concatenate(log_proposal), np.concatenate(log_gaussian))


def _images(model: Model, positions: np.ndarray) -> Iterator[_Images]:
    """All images of positions, in batches of one size."""
    count, dimension = num_images(model), positions.shape[1]
    size = max(1, min(len(positions), IMAGES_AT_ONCE // count))
    for start in range(0, len(positions), size):
        chosen = positions[start : start + size].astype(real_dtype())
        found = np.array(images(model, np.resize(chosen, (size, dimension))))
        prior = log_priors(model, found.reshape(-1, dimension), size * count).reshape(size, count)
        with np.errstate(invalid="ignore"):
            log_jacobians = prior[:, :1] - prior
        # An image at the edge of the simplex may have no coordinates; nothing is ever drawn from there.
        usable = np.isfinite(log_jacobians) & np.isfinite(found).all(axis=2)
        usable[:, 0] = True
        log_jacobians[:, 0] = 0.0
        log_jacobians[~usable], found[~usable] = -np.inf, 0.0
        rows = slice(len(chosen))
        yield _Images(found[rows].astype(np.float64), log_jacobians[rows], prior[rows, 0])


def _average(batch: _Images, log_parts: Sequence[np.ndarray], weights: np.ndarray) -> np.ndarray:
    """Log of the weighted sum over modes and the mean over images."""
    parts = [np.log(weight) + part + batch.log_jacobians for weight, part in zip(weights, log_parts, strict=True)]
    total = np.logaddexp.reduce(np.concatenate(parts, axis=1), axis=1)
    return total - np.log(batch.log_jacobians.shape[1])
