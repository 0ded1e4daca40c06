"""Mixture of Gaussians with diagonal covariances (appendix B), the component labels summed out."""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
from jax.lax import Precision

from sgais.errors import require_count
from sgais.fields import Chunk, Field
from sgais.models.base import Parameters, Rows
from sgais.models.ready import mixture_starts
from sgais.models.ready.base import ReadyModel
from sgais.models.ready.class_major import log_sum_exp

CENTRE_ROWS = 9


class GaussianMixture(ReadyModel):
    """Gaussian mixture: weights ~ Dirichlet(1), variances ~ InverseGamma(1, 1), means ~ N(0, 4 variances).

    Chunks: `{"y": (n, dim)}`, or the bare array. Parameters: `weights` (components,), `variances` and
    `means` (components, dim). The paper's priors expect data centred near zero.

    Args:
        components: The number of Gaussians.
        dim: The dimension of an observation.

    Example:
        >>> model = sgais.models.GaussianMixture(components=3, dim=2)
        >>> model.dimension, model.exchangeable
        (14, ('weights', 'variances', 'means'))
    """

    def __init__(self, components: int, dim: int = 1) -> None:
        require_count("components", components)
        require_count("dim", dim)
        self.options = {
            "components": components,
            "dim": dim,
        }
        super().__init__(
            prior={
                "weights": dist.Dirichlet(jnp.ones(components)),
                "variances": dist.InverseGamma(1.0, 1.0).expand([components, dim]).to_event(2),
                "means": lambda above: dist.Normal(0.0, 2.0 * jnp.sqrt(above["variances"])).to_event(2),
            },
            log_likelihood=self._log_likelihood,
            fields={"y": Field(shape=(dim,))},
            exchangeable=("weights", "variances", "means"),
            predictive=self._predictive,
            starts=self._guess,
        )

    def _log_likelihood(self, parameters: Parameters, rows: Rows) -> jax.Array:
        """One matrix product of [y^2, y, 1] with each component's coefficients gives all log densities.

        y is counted from the middle of a few rows: far from zero the terms of the square would cancel in float32. It is
        the same for all particles, which share one product then; the middle one of several is no outlier.
        """
        some = rows["y"][:: -(-len(rows["y"]) // CENTRE_ROWS)]
        centre = jnp.median(some, axis=0)
        y, means = rows["y"] - centre, parameters["means"] - centre
        precisions = 1.0 / parameters["variances"]
        constants = jnp.log(parameters["weights"]) - 0.5 * jnp.sum(
            means**2 * precisions + jnp.log(2 * jnp.pi * parameters["variances"]), axis=1
        )
        coefficients = jnp.concatenate([-0.5 * precisions, means * precisions], axis=1)
        features = jnp.concatenate([y**2, y], axis=1)
        scores = jnp.dot(coefficients, features.T, precision=Precision.HIGHEST) + constants[:, None]
        return log_sum_exp(scores)

    def _guess(self, rows: Chunk, generator: np.random.Generator) -> dict[str, np.ndarray]:
        return mixture_starts.guess(rows["y"], self.options["components"], generator)

    @staticmethod
    def _predictive(parameters: Parameters, rows: Rows) -> dist.Distribution:  # noqa: ARG004 - there are no inputs
        components = dist.Normal(parameters["means"], jnp.sqrt(parameters["variances"])).to_event(1)
        return dist.MixtureSameFamily(dist.CategoricalProbs(parameters["weights"]), components)
