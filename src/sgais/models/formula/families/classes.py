"""Responses that are classes: yes or no, so many out of so many, one of several, or steps of a scale."""

from collections.abc import Mapping, Sequence

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
from jax.scipy.special import gammaln

from sgais.errors import DataError
from sgais.models.base import Parameters
from sgais.models.formula.families.base import LOGIT, WIDE_ON_LOGIT, Family, Units, require_rows
from sgais.models.ready.class_major import chosen, log_sum_exp


class Bernoulli(Family):
    """Yes or no; of two levels, the second is the yes."""

    name = "bernoulli"
    link = LOGIT
    has_classes = True
    coefficient_scale = WIDE_ON_LOGIT

    def units(self, response: np.ndarray, levels: Sequence[str], offset: np.ndarray) -> Units:  # noqa: ARG002
        """The levels; there must be two."""
        if len(levels) != 2:
            raise DataError(
                f"the response must have two levels for family='bernoulli', got {list(levels)}. Declare them with "
                "`levels`, or choose 'categorical' or 'ordinal'."
            )
        return Units(0.0, 1.0, tuple(levels))

    def log_density(self, predictor: jax.Array, parameters: Parameters, response: jax.Array, units: Units) -> jax.Array:  # noqa: ARG002
        """The log density of every row."""
        return response * predictor - jax.nn.softplus(predictor)

    def distribution(self, predictor: jax.Array, parameters: Parameters, units: Units) -> dist.Distribution:  # noqa: ARG002
        """The distribution of every row."""
        return dist.BernoulliLogits(predictor)


class Binomial(Family):
    """So many successes out of as many trials as another column says."""

    name = "binomial"
    link = LOGIT
    coefficient_scale = WIDE_ON_LOGIT
    needs_trials = True

    def check(self, response: np.ndarray, what: str) -> None:
        """Successes are counts."""
        require_rows((response >= 0) & (response == np.floor(response)), response, what, self.name, "a count")

    def log_density(self, predictor: jax.Array, parameters: Parameters, response: jax.Array, units: Units) -> jax.Array:  # noqa: ARG002
        """The log density of every row; the trials of each row stand beside the parameters."""
        trials = parameters["trials"]
        ways = gammaln(trials + 1) - gammaln(response + 1) - gammaln(trials - response + 1)
        return ways + response * predictor - trials * jax.nn.softplus(predictor)

    def distribution(self, predictor: jax.Array, parameters: Parameters, units: Units) -> dist.Distribution:  # noqa: ARG002
        """The distribution of every row."""
        return dist.BinomialLogits(predictor, parameters["trials"])


class Categorical(Family):
    """One of several classes; the first is what the others are compared with."""

    name = "categorical"
    link = "log odds against the first class"
    has_classes = True
    coefficient_scale = WIDE_ON_LOGIT

    def units(self, response: np.ndarray, levels: Sequence[str], offset: np.ndarray) -> Units:  # noqa: ARG002
        """The levels."""
        _require_classes(self.name, levels)
        return Units(0.0, 1.0, tuple(levels))

    def num_predictors(self, units: Units) -> int:
        """One for each class but the first."""
        return len(units.levels) - 1

    def log_density(self, predictor: jax.Array, parameters: Parameters, response: jax.Array, units: Units) -> jax.Array:  # noqa: ARG002
        """The log density of every row; the predictor is class-major, shape (classes - 1, rows)."""
        scores = jnp.concatenate([jnp.zeros_like(predictor[:1]), predictor])
        return chosen(scores, response) - log_sum_exp(scores)

    def distribution(self, predictor: jax.Array, parameters: Parameters, units: Units) -> dist.Distribution:  # noqa: ARG002
        """The distribution of every row."""
        return dist.CategoricalLogits(jnp.concatenate([jnp.zeros_like(predictor[:1]), predictor]).T)


class Ordinal(Family):
    """Steps of a scale: the log odds of at most this step, cut point less linear predictor (proportional odds).

    Cut points come from the classes' probabilities where the linear predictor is zero, which need no ordering and have
    a prior that anyone can read.
    """

    name = "ordinal"
    link = "cumulative logit"
    has_classes = True
    has_intercept = False
    coefficient_scale = WIDE_ON_LOGIT

    def units(self, response: np.ndarray, levels: Sequence[str], offset: np.ndarray) -> Units:  # noqa: ARG002
        """The levels, in their order."""
        _require_classes(self.name, levels)
        return Units(0.0, 1.0, tuple(levels))

    def priors(self, units: Units) -> Mapping[str, dist.Distribution]:
        """All probabilities of the classes alike."""
        return {"class_probabilities": dist.Dirichlet(jnp.ones(len(units.levels)))}

    def log_density(self, predictor: jax.Array, parameters: Parameters, response: jax.Array, units: Units) -> jax.Array:
        """The log density of every row."""
        return chosen(_log_steps(predictor, parameters, units), response)

    def distribution(self, predictor: jax.Array, parameters: Parameters, units: Units) -> dist.Distribution:
        """The distribution of every row."""
        return dist.CategoricalLogits(_log_steps(predictor, parameters, units).T)


def _log_steps(predictor: jax.Array, parameters: Parameters, units: Units) -> jax.Array:
    """Log probability of each step, shape (steps, rows), without the cancellation of two logistic functions."""
    probabilities = parameters["class_probabilities"]
    below = jnp.cumsum(probabilities)[:-1]
    above = jnp.cumsum(probabilities[::-1])[::-1][1:]
    cuts = jnp.log(below) - jnp.log(above)
    gaps = jnp.log1p(-jnp.exp(-jnp.diff(cuts)))
    upper = cuts[:, None] - predictor
    log_below, log_above = -jax.nn.softplus(-upper), -jax.nn.softplus(upper)
    # sigma(b) - sigma(a) = sigma(b) (1 - sigma(a)) (1 - exp(a - b))
    middle = log_below[1:] + log_above[:-1] + gaps[:, None]
    assert len(units.levels) == len(below) + 1, "a probability for each level"
    return jnp.concatenate([log_below[:1], middle, log_above[-1:]])


def _require_classes(family: str, levels: Sequence[str]) -> None:
    if len(levels) < 3:
        raise DataError(
            f"the response must have at least three levels for family={family!r}, got {list(levels)}. Declare them "
            "with `levels`, or choose 'bernoulli'."
        )
