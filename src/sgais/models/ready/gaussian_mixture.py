"""Mixture of Gaussians (appendix B; other covariances and priors), the component labels summed out."""

from collections.abc import Iterable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
from jax.lax import Precision
from jax.scipy.linalg import solve_triangular

from sgais.errors import require, require_count
from sgais.fields import Chunk, Field, as_arrays
from sgais.models.base import Parameters, PriorPart, Rows
from sgais.models.ready import mixture_starts
from sgais.models.ready.base import ReadyModel
from sgais.models.ready.class_major import log_sum_exp
from sgais.models.ready.mixture_options import MixturePrior, as_prior, as_unit
from sgais.models.ready.mixture_shapes import KINDS, Shape

CENTRE_ROWS = 9
DIAG = "diag"
UNIT_ROWS = 500  # that fix centre and scale where rows are given: as many as fix those of a formula


class GaussianMixture(ReadyModel):
    """Gaussian mixture: weights ~ Dirichlet(1), variances ~ InverseGamma(1, 1), means ~ N(0, 4 variances).

    Chunks: `{"y": (n, dim)}`, or the bare array. Parameters: `weights` (components,), `means` (components, dim),
    `variances` (components, dim), or (components,) if spherical and (dim,) if tied, and `correlations`, the Cholesky
    factors of correlation matrices, if full or tied. The paper's priors expect data centred near zero with a scale near
    one; for others, `centre` and `scale` say where the prior is.

    Args:
        components: The number of Gaussians.
        dim: The dimension of an observation.
        covariance: "diag", "full", "spherical" (one variance for each component) or "tied" (a full one for all).
        centre: Where the data are: a number, or one for each dimension.
        scale: How wide they are: a number, or one for each dimension.
        prior: Other numbers than those above, by name: see `MixturePrior`.

    Example:
        >>> model = sgais.models.GaussianMixture(components=3, dim=2)
        >>> model.dimension, model.exchangeable
        (14, ('weights', 'variances', 'means'))
    """

    def __init__(
        self,
        components: int,
        dim: int = 1,
        covariance: str = DIAG,
        centre: float | Iterable[float] | None = None,
        scale: float | Iterable[float] | None = None,
        prior: Mapping[str, float] | MixturePrior | None = None,
    ) -> None:
        require_count("components", components)
        require_count("dim", dim)
        require(covariance in KINDS, "covariance", f"be one of {list(KINDS)}", covariance)
        numbers = as_prior(prior)
        self.options = {
            "components": components,
            "dim": dim,
            "covariance": None if covariance == DIAG else covariance,
            "centre": as_unit("centre", centre, dim),
            "scale": as_unit("scale", scale, dim),
            "prior": None if numbers == MixturePrior() else numbers,
        }
        self._shape = Shape(KINDS[covariance], components, dim)
        super().__init__(
            prior=self._priors(numbers),
            log_likelihood=self._log_likelihood,
            fields={"y": Field(shape=(dim,))},
            exchangeable=self._shape.exchangeable,
            predictive=self._predictive,
            starts=self._guess,
        )

    def _priors(self, numbers: MixturePrior) -> dict[str, PriorPart]:
        shape, centre, scale = self._shape, self.options["centre"], self.options["scale"]
        one_unit = not shape.kind.is_round or not isinstance(scale, tuple)
        require(one_unit, "scale", "be one number for spherical components", scale)
        middle = 0.0 if centre is None else np.array(centre)
        rate = numbers.rate if scale is None else numbers.rate * np.square(scale)
        return {
            "weights": dist.Dirichlet(jnp.full(shape.components, numbers.concentration)),
            **shape.priors(numbers, rate),
            "means": lambda above: dist.Normal(middle, numbers.spread * jnp.sqrt(shape.variances(above))).to_event(2),
        }

    def _log_likelihood(self, parameters: Parameters, rows: Rows) -> jax.Array:
        """Log densities of all components, summed.

        y is counted from the middle of a few rows: far from zero the terms of the square would cancel in float32. It is
        the same for all particles, which share one product then; the middle one of several is no outlier.
        """
        some = rows["y"][:: -(-len(rows["y"]) // CENTRE_ROWS)]
        centre = jnp.median(some, axis=0)
        y, means = rows["y"] - centre, parameters["means"] - centre
        scores = self._correlated_scores if self._shape.has_correlations else self._diagonal_scores
        return log_sum_exp(scores(parameters, y, means))

    def _diagonal_scores(self, parameters: Parameters, y: jax.Array, means: jax.Array) -> jax.Array:
        """One matrix product of [y^2, y, 1] with each component's coefficients gives all log densities."""
        variances = self._shape.variances(parameters)
        precisions = 1.0 / variances
        constants = jnp.log(parameters["weights"]) - 0.5 * jnp.sum(
            means**2 * precisions + jnp.log(2 * jnp.pi * variances), axis=1
        )
        coefficients = jnp.concatenate([-0.5 * precisions, means * precisions], axis=1)
        features = jnp.concatenate([y**2, y], axis=1)
        return jnp.dot(coefficients, features.T, precision=Precision.HIGHEST) + constants[:, None]

    def _correlated_scores(self, parameters: Parameters, y: jax.Array, means: jax.Array) -> jax.Array:
        """One product whitens all rows by all components; squares of what is small lose no digits."""
        components, dim = self._shape.components, self._shape.dim
        factors = self._shape.factors(parameters)
        whiteners = solve_triangular(factors, jnp.broadcast_to(jnp.eye(dim), factors.shape), lower=True)
        offsets = jnp.einsum("kij,kj->ki", whiteners, means, precision=Precision.HIGHEST)
        white = jnp.dot(whiteners.reshape(-1, dim), y.T, precision=Precision.HIGHEST)
        white = white.reshape(components, dim, -1) - offsets[:, :, None]
        log_sizes = jnp.sum(jnp.log(jnp.diagonal(factors, axis1=1, axis2=2)), axis=1)
        constants = jnp.log(parameters["weights"]) - log_sizes - 0.5 * dim * jnp.log(2 * jnp.pi)
        return constants[:, None] - 0.5 * jnp.sum(white**2, axis=1)

    def _guess(self, rows: Chunk, generator: np.random.Generator) -> dict[str, np.ndarray]:
        return self._shape.from_guess(mixture_starts.guess(rows["y"], self.options["components"], generator))

    def _predictive(self, parameters: Parameters, rows: Rows) -> dist.Distribution:  # noqa: ARG002 - there are no inputs
        weights, means = dist.CategoricalProbs(parameters["weights"]), parameters["means"]
        if self._shape.has_correlations:
            factors = self._shape.factors(parameters)
            return dist.MixtureSameFamily(weights, dist.MultivariateNormal(means, scale_tril=factors))
        scales = jnp.sqrt(self._shape.variances(parameters))
        return dist.MixtureSameFamily(weights, dist.Normal(means, scales).to_event(1))


def mixtures(counts: Iterable[int], dim: int = 1, like: object = None, **options: Any) -> dict[str, GaussianMixture]:
    """Mixtures of several numbers of components by name, for a `Comparison` on one stream.

    Args:
        counts: How many components.
        dim: The dimension of an observation.
        like: Some rows, whose mean and standard deviation (of the first 500) become `centre` and `scale`. Without them
            the prior is the paper's, for data that are standardised.
        options: Others of `GaussianMixture`.

    Example:
        >>> list(sgais.mixtures(range(1, 4), dim=2))
        ['K=1', 'K=2', 'K=3']
    """
    numbers = list(counts)
    require(bool(numbers), "counts", "name a number of components", counts)
    if like is not None:
        rows = np.asarray(as_arrays(like)["y"], np.float64).reshape(-1, dim)[:UNIT_ROWS]
        deviations = rows.std(axis=0)
        require(bool((deviations > 0).all()), "like", "have rows that differ in every dimension", rows[:1])
        wide = float(np.sqrt(np.mean(deviations**2))) if options.get("covariance") == "spherical" else deviations
        options = {"centre": rows.mean(axis=0), "scale": wide} | options
    return {f"K={count}": GaussianMixture(count, dim, **options) for count in numbers}
