"""Responses that are measured: Gaussian, Student's t, and gamma for positive ones."""

from collections.abc import Mapping, Sequence

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
from jax.scipy.special import gammaln

from sgais.errors import DataError
from sgais.models.base import Parameters
from sgais.models.formula.families.base import LOG, Family, Units, require_rows, split

LOG_2_PI = float(np.log(2 * np.pi))


class Gaussian(Family):
    """Normal around the linear predictor, with a scale to be found.

    Rows hold the response in units of its standard deviation in the first rows; densities are those of the response.
    """

    name = "gaussian"
    is_continuous = True
    reading = "standardised"

    def units(self, response: np.ndarray, levels: Sequence[str], offset: np.ndarray) -> Units:  # noqa: ARG002
        """Mean and standard deviation."""
        rest = response - offset
        if not rest.std() > 0:
            raise DataError(
                f"the response must vary in the first rows, got {rest[0]:g} in all of them. Send more at once."
            )
        return Units(float(rest.mean()), float(rest.std()))

    def read(self, response: np.ndarray, units: Units) -> np.ndarray:
        """In standard deviations from the mean of the first rows."""
        return (response - units.location) / units.scale

    def priors(self, units: Units) -> Mapping[str, dist.Distribution]:  # noqa: ARG002
        """The scale of the noise, in units of that of the response."""
        return {"scale": dist.Exponential(1.0)}

    def log_density(self, predictor: jax.Array, parameters: Parameters, response: jax.Array, units: Units) -> jax.Array:
        """The log density of the response in its own units."""
        scale = parameters["scale"]
        large, rest = split(0.5 * LOG_2_PI + float(np.log(units.scale)))
        return -(0.5 * ((response - predictor) / scale) ** 2 + jnp.log(scale) + rest) - large

    def distribution(self, predictor: jax.Array, parameters: Parameters, units: Units) -> dist.Distribution:
        """In the units of the response."""
        return dist.Normal(units.location + units.scale * predictor, units.scale * parameters["scale"])


class StudentT(Gaussian):
    """Student's t around the linear predictor: like `Gaussian`, with tails as heavy as the rows say."""

    name = "student-t"

    def priors(self, units: Units) -> Mapping[str, dist.Distribution]:
        """Juárez and Steel (2010) for the degrees of freedom: from near Cauchy to as good as normal."""
        return {**super().priors(units), "degrees_of_freedom": dist.Gamma(2.0, 0.1)}

    def log_density(self, predictor: jax.Array, parameters: Parameters, response: jax.Array, units: Units) -> jax.Array:
        """The log density of the response in its own units."""
        scale, freedom = parameters["scale"], parameters["degrees_of_freedom"]
        squares = ((response - predictor) / scale) ** 2
        normaliser = gammaln(0.5 * (freedom + 1)) - gammaln(0.5 * freedom) - 0.5 * jnp.log(freedom) - jnp.log(scale)
        large, rest = split(0.5 * float(np.log(np.pi)) + float(np.log(units.scale)))
        return normaliser - (0.5 * (freedom + 1) * jnp.log1p(squares / freedom) + rest) - large

    def distribution(self, predictor: jax.Array, parameters: Parameters, units: Units) -> dist.Distribution:
        """In the units of the response."""
        location, scale = units.location + units.scale * predictor, units.scale * parameters["scale"]
        return dist.StudentT(parameters["degrees_of_freedom"], location, scale)


class Gamma(Family):
    """Positive responses whose standard deviation grows with their mean, by a coefficient of variation to be found."""

    name = "gamma"
    link = LOG
    is_continuous = True
    reading = "in units of its mean"

    def units(self, response: np.ndarray, levels: Sequence[str], offset: np.ndarray) -> Units:  # noqa: ARG002
        """The mean; the response is counted in it."""
        return Units(0.0, float((response * np.exp(-offset)).mean()))

    def check(self, response: np.ndarray, what: str) -> None:
        """Zero has no density."""
        require_rows(response > 0, response, what, self.name, "positive")

    def read(self, response: np.ndarray, units: Units) -> np.ndarray:
        """In units of the mean of the first rows."""
        return response / units.scale

    def priors(self, units: Units) -> Mapping[str, dist.Distribution]:  # noqa: ARG002
        """The coefficient of variation: shape = 1 / variation^2."""
        return {"variation": dist.Exponential(1.0)}

    def log_density(self, predictor: jax.Array, parameters: Parameters, response: jax.Array, units: Units) -> jax.Array:
        """The log density of the response in its own units."""
        shape = 1 / parameters["variation"] ** 2
        large, rest = split(float(np.log(units.scale)))
        ratio = jnp.log(response) - predictor
        kernel = shape * (ratio - jnp.exp(ratio)) - jnp.log(response) - rest
        return shape * jnp.log(shape) - gammaln(shape) + kernel - large

    def distribution(self, predictor: jax.Array, parameters: Parameters, units: Units) -> dist.Distribution:
        """In the units of the response."""
        shape = 1 / parameters["variation"] ** 2
        return dist.Gamma(shape, shape * jnp.exp(-predictor) / units.scale)
