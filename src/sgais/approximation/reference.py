"""A density near the posterior that can be drawn from and whose integral is one: where log Z is taken outright.

Student t's around the posterior's modes and around the particles of each, and a share of the prior: the t's are shaped
like the posterior, bent where it is (`bend`), their tails are heavier, and the prior bounds what they may have missed.
How far it is from the posterior does not bias log Z, only how much work is left to go from one to the other
(`outright`).
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from sgais.approximation.bend import Bend, Shape, shape_of, straight
from sgais.approximation.gaussian import Gaussian
from sgais.approximation.student_t import log_constant, log_fall, standard_draws
from sgais.compute.positions import log_priors
from sgais.compute.prior_draws import sample_prior
from sgais.errors import EstimationError
from sgais.models.base import Model, real_dtype

PRIOR_SHARE = 0.05
COMPONENTS = 8  # one number of them, one compiled program
FEWEST = 4  # particles per parameter, for a covariance of their own
BY_EVIDENCE = 0.4  # share of the draws that the modes get by their evidence, the rest is by the particles' shape
PURPOSE = 5  # of random numbers


class Reference(NamedTuple):
    """A mixture of Student t's and the prior.

    Attributes:
        centres: Of the t's, shape (components, d).
        roots: L with L L' the t's inverse scale matrix, shape (components, d, d).
        bends: How each t bends, arrays of shape (components, ...).
        log_factors: Log of a t's share times its normalising constant, shape (components,); -inf for one not in use.
        log_prior_share: Of the prior.
    """

    centres: np.ndarray
    roots: np.ndarray
    bends: Bend
    log_factors: np.ndarray
    log_prior_share: np.ndarray

    @property
    def shares(self) -> np.ndarray:
        """The share of each t, and last of the prior."""
        dimension = self.centres.shape[1]
        log_volumes = np.linalg.slogdet(self.roots.astype(np.float64))[1]
        log_shares = self.log_factors - log_volumes - log_constant(dimension, _freedom(dimension))
        return np.exp(np.append(log_shares, self.log_prior_share))


def mixture(parts: list[tuple[float, Shape]], dimension: int) -> Reference:
    """The reference of t's with these shares and shapes; the largest where these are too many."""
    largest = sorted(parts, key=lambda part: -part[0])[:COMPONENTS]
    total = sum(share for share, _ in largest)
    centres, roots = np.zeros((COMPONENTS, dimension)), np.tile(np.eye(dimension), (COMPONENTS, 1, 1))
    bends = [straight(dimension)] * COMPONENTS
    log_factors = np.full(COMPONENTS, -np.inf)
    for number, (share, (gaussian, bend)) in enumerate(largest):
        centres[number], roots[number], bends[number] = gaussian.centre, np.linalg.cholesky(gaussian.precision), bend
        log_share = np.log(share / total * (1 - PRIOR_SHARE))
        log_volume = np.sum(np.log(np.diag(roots[number])))
        log_factors[number] = log_share + log_volume + log_constant(dimension, _freedom(dimension))
    return Reference(centres, roots, _stacked(bends), log_factors, np.log(PRIOR_SHARE))


def fit(positions: np.ndarray, modes: list[tuple[Gaussian, float]]) -> Reference:
    """A reference shaped by particles of equal weight, and by the modes that are known and their log evidences."""
    dimension = positions.shape[1]
    if not modes:
        shape = shape_of(positions, _freedom(dimension))
        if shape is None:  # rows that a model with a free scale fits to the last digit
            raise EstimationError(
                "the posterior must have a width that numbers can hold, got particles that agree to the last digit. "
                "Is one column a function of the others, without any noise? Leave it out, or fix the noise."
            )
        return mixture([(1.0, shape)], dimension)
    owners = np.argmin([gaussian.distances(positions) for gaussian, _ in modes], axis=0)
    log_evidences = np.array([log_evidence for _, log_evidence in modes])
    hopes = np.exp(0.5 * (log_evidences - log_evidences.max()))  # roots, since Laplace's evidences may be off by nats
    parts: list[tuple[float, Shape]] = []
    for number, (gaussian, _) in enumerate(modes):
        mine = positions[owners == number]
        share = (1 - BY_EVIDENCE) * len(mine) / len(positions)
        shape = shape_of(mine, _freedom(dimension)) if len(mine) >= FEWEST * dimension else None
        if shape is not None:
            parts.append((share, shape))
        hoped = BY_EVIDENCE * hopes[number] / hopes.sum()
        parts.append((hoped if shape is not None else share + hoped, Shape(gaussian, straight(dimension))))
    return mixture(parts, dimension)


def nothing(dimension: int) -> Reference:
    """In the place of a reference where there is none, for programs that are made for both cases."""
    zeros = np.zeros((COMPONENTS, dimension)), np.zeros((COMPONENTS, dimension, dimension))
    bends = _stacked([straight(dimension)] * COMPONENTS)
    return on_device(Reference(*zeros, bends, np.zeros(COMPONENTS), np.zeros(())))


def on_device(reference: Reference) -> Reference:
    """In the numbers of the device."""
    return jax.tree.map(lambda part: np.asarray(part, real_dtype()), reference)


def draw(model: Model, reference: Reference, count: int, seed: int, generator: np.random.Generator) -> np.ndarray:
    """Positions of draws, shape (count, d), in random order: each part has as many as its share says."""
    shares = reference.shares
    points = (np.arange(count) + generator.random()) / count
    sources = np.minimum(np.searchsorted(np.cumsum(shares / shares.sum()), points), len(shares) - 1)
    positions = np.empty((count, reference.centres.shape[1]))
    dimension = positions.shape[1]
    for number in np.unique(sources[sources < COMPONENTS]):
        mine = sources == number
        noise = standard_draws(generator, mine.sum(), dimension, _freedom(dimension))
        offsets = np.linalg.solve(reference.roots[number].T, noise.T).T
        positions[mine] = reference.centres[number] + _bend_of(reference, number).bent(offsets)
    of_prior = sources == COMPONENTS
    positions[of_prior] = sample_prior(model, of_prior.sum(), seed, PURPOSE, int(generator.integers(2**31)))
    return generator.permutation(positions).astype(real_dtype()).astype(np.float64)


def log_densities(model: Model, reference: Reference, positions: np.ndarray) -> np.ndarray:
    """At positions (n, d), in float64 on the host; +inf where a draw from the prior is beyond the device's numbers."""
    is_finite = np.isfinite(positions).all(axis=1)
    known, found = positions[is_finite], np.full(len(positions), np.inf)
    found[is_finite] = _log_sum(np, reference, known, log_priors(model, known))
    return found


def log_density(reference: Reference, positions: jax.Array, log_priors: jax.Array) -> jax.Array:
    """At positions (n, d) whose prior density is known, in compiled code."""
    return _log_sum(jnp, reference, positions, log_priors)


def _log_sum(xp: Any, reference: Reference, positions: Any, log_priors: Any) -> Any:
    dimension = positions.shape[1]
    total = reference.log_prior_share + log_priors
    for number in range(COMPONENTS):
        offsets, log_shrinkage = _bend_of(reference, number).straightened(positions - reference.centres[number], xp)
        whitened = offsets @ reference.roots[number]
        fall = log_fall(xp.sum(whitened**2, axis=1), dimension, _freedom(dimension), xp)
        total = xp.logaddexp(total, reference.log_factors[number] + fall - log_shrinkage)
    return total


def _bend_of(reference: Reference, number: int) -> Bend:
    return Bend(*(part[number] for part in reference.bends))


def _stacked(bends: list[Bend]) -> Bend:
    return Bend(*(np.stack(parts) for parts in zip(*bends, strict=True)))


def _freedom(dimension: int) -> float:
    """Degrees of freedom of the t's: heavy tails, but not so heavy that in many dimensions all draws are there."""
    return 5.0 + 0.5 * dimension
