"""The covariances that the components of a mixture may have, and what is free in them."""

from collections.abc import Mapping
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist

from sgais.models.base import Parameters, PriorPart
from sgais.models.ready.mixture_options import MixturePrior


class Kind(NamedTuple):
    """What is free.

    Attributes:
        is_shared: All components have the same.
        is_round: All dimensions have the same variance.
        has_correlations: Between dimensions.
    """

    is_shared: bool = False
    is_round: bool = False
    has_correlations: bool = False


KINDS: Mapping[str, Kind] = {
    "diag": Kind(),
    "full": Kind(has_correlations=True),
    "spherical": Kind(is_round=True),
    "tied": Kind(is_shared=True, has_correlations=True),
}


class Shape(NamedTuple):
    """A covariance for so many components and dimensions."""

    kind: Kind
    components: int
    dim: int

    @property
    def has_correlations(self) -> bool:
        """Whether there are any: one dimension has none."""
        return self.kind.has_correlations and self.dim > 1

    @property
    def exchangeable(self) -> tuple[str, ...]:
        """The parameters that are reordered with the components."""
        own = () if self.kind.is_shared else ("variances", "correlations") if self.has_correlations else ("variances",)
        return ("weights", *own, "means")

    def priors(self, prior: MixturePrior, rate: float | np.ndarray) -> dict[str, PriorPart]:
        """Of variances and correlations; `rate` is that of the variances, in the units of the data."""
        copies = [] if self.kind.is_shared else [self.components]
        sizes = [*copies, *([] if self.kind.is_round else [self.dim])]
        found: dict[str, PriorPart] = {
            "variances": dist.InverseGamma(prior.shape, rate).expand(sizes).to_event(len(sizes))
        }
        if self.has_correlations:
            factors = dist.LKJCholesky(self.dim, prior.correlation).expand(copies)
            found["correlations"] = factors.to_event(len(copies))
        return found

    def variances(self, parameters: Parameters) -> jax.Array:
        """Of every component, shape (components, dim)."""
        variances = parameters["variances"]
        if self.kind.is_round:
            variances = variances[..., None]
        return jnp.broadcast_to(variances, (self.components, self.dim))

    def factors(self, parameters: Parameters) -> jax.Array:
        """Cholesky factors of every component's covariance, shape (components, dim, dim)."""
        return jnp.sqrt(self.variances(parameters))[:, :, None] * parameters["correlations"]

    def from_guess(self, guess: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """A guess of variances (components, dim) as these parameters, without correlations."""
        variances = guess["variances"]
        if self.kind.is_shared:
            variances = guess["weights"] @ variances
        if self.kind.is_round:
            variances = variances.mean(axis=-1)
        found = {**guess, "variances": variances}
        if self.has_correlations:
            copies = () if self.kind.is_shared else (self.components,)
            found["correlations"] = np.broadcast_to(np.eye(self.dim), (*copies, self.dim, self.dim))
        return found
