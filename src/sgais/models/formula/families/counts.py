"""Responses that are counted: Poisson, and negative binomial where counts vary more than that."""

from collections.abc import Mapping, Sequence

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
from jax.scipy.special import gammaln

from sgais.models.base import Parameters
from sgais.models.formula.families.base import LOG, Family, Units, require_rows

MOST = 2**24  # float32 counts no further


class Poisson(Family):
    """Counts with a mean of exp(linear predictor), exposure included."""

    name = "poisson"
    link = LOG

    def units(self, response: np.ndarray, levels: Sequence[str], offset: np.ndarray) -> Units:  # noqa: ARG002
        """The logarithm of the mean per exposure; half a count stands for none."""
        return Units(float(np.log(max(float(response.sum()), 0.5) / np.exp(offset).sum())))

    def check(self, response: np.ndarray, what: str) -> None:
        """Whole numbers."""
        good = (response >= 0) & (response == np.floor(response)) & (response <= MOST)
        require_rows(good, response, what, self.name, "a count, 0, 1, 2, ...,")

    def log_density(self, predictor: jax.Array, parameters: Parameters, response: jax.Array, units: Units) -> jax.Array:  # noqa: ARG002
        """The log density of every row."""
        log_mean = units.location + predictor
        return response * log_mean - jnp.exp(log_mean) - gammaln(response + 1)

    def distribution(self, predictor: jax.Array, parameters: Parameters, units: Units) -> dist.Distribution:  # noqa: ARG002
        """The distribution of every row."""
        return dist.Poisson(jnp.exp(units.location + predictor))


class NegativeBinomial(Poisson):
    """Counts with variance = mean + overdispersion^2 mean^2; none of it is the Poisson distribution."""

    name = "negative-binomial"

    def priors(self, units: Units) -> Mapping[str, dist.Distribution]:  # noqa: ARG002
        """The standard deviation of the factor on the mean; zero, the simpler model, has the highest density."""
        return {"overdispersion": dist.HalfNormal(1.0)}

    def log_density(self, predictor: jax.Array, parameters: Parameters, response: jax.Array, units: Units) -> jax.Array:
        """The log density of every row."""
        log_mean = units.location + predictor
        log_size = -2 * jnp.log(parameters["overdispersion"])
        size = jnp.exp(log_size)
        log_total = jnp.logaddexp(log_mean, log_size)
        ways = gammaln(response + size) - gammaln(size) - gammaln(response + 1)
        return ways + response * (log_mean - log_total) + size * (log_size - log_total)

    def distribution(self, predictor: jax.Array, parameters: Parameters, units: Units) -> dist.Distribution:
        """The distribution of every row."""
        return dist.NegativeBinomial2(jnp.exp(units.location + predictor), parameters["overdispersion"] ** -2)
