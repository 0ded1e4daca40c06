"""What a family is: how the response is read, what its own parameters are, and how probable a row is."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import jax
import numpy as np
import numpyro.distributions as dist

from sgais.errors import DataError
from sgais.models.base import Parameters

IDENTITY, LOG, LOGIT = "identity", "log", "logit"
WIDE_ON_LOGIT, WIDE = 2.5, 1.0  # of a coefficient's prior; why is said in docs/priors.md


class Units(NamedTuple):
    """What the first rows say of the response.

    Attributes:
        location: What the linear predictor is counted from.
        scale: The unit of the response, for families with a scale; else 1.
        levels: Of a response of classes, in order.
    """

    location: float
    scale: float = 1.0
    levels: tuple[str, ...] = ()


class Family(ABC):
    """A distribution of the response around the linear predictor.

    Attributes:
        name: As users write it.
        link: What the linear predictor is of the mean.
        has_classes: Whether the response is a category.
        has_intercept: Whether there is a single one; cut points and classes have their own.
        coefficient_scale: Of the prior of a coefficient, for a column in units of its standard deviation.
        is_continuous: Whether the response has a density, which a transformation changes.
        needs_trials: Whether each row says how many trials it is out of.
        reading: What rows hold of the response, in words; families that read it alike share the column.
    """

    name = ""
    link = IDENTITY
    has_classes = False
    has_intercept = True
    coefficient_scale = WIDE
    is_continuous = False
    needs_trials = False
    reading = "as it is"

    def units(self, response: np.ndarray, levels: Sequence[str], offset: np.ndarray) -> Units:  # noqa: ARG002
        """The units that the first rows fix; numbers as they are, or codes of classes."""
        return Units(0.0, 1.0, tuple(levels))

    def check(self, response: np.ndarray, what: str) -> None:  # noqa: B027  # any response will do, unless a family objects
        """Refuse responses out of the family's range."""

    def read(self, response: np.ndarray, units: Units) -> np.ndarray:  # noqa: ARG002
        """The response as rows hold it."""
        return response

    def num_predictors(self, units: Units) -> int:  # noqa: ARG002
        """How many linear predictors there are."""
        return 1

    def priors(self, units: Units) -> Mapping[str, dist.Distribution]:  # noqa: ARG002
        """The priors of its own parameters, in the units of the response."""
        return {}

    def log_density(self, predictor: jax.Array, parameters: Parameters, response: jax.Array, units: Units) -> jax.Array:
        """The log density of every row."""
        return jax.numpy.asarray(self.distribution(predictor, parameters, units).log_prob(response))

    @abstractmethod
    def distribution(self, predictor: jax.Array, parameters: Parameters, units: Units) -> dist.Distribution:
        """The distribution of every row's response, in its own units."""


def require_rows(good: np.ndarray, response: np.ndarray, what: str, family: str, rule: str) -> None:
    """Refuse the first response that breaks a rule."""
    wrong = np.flatnonzero(~good)
    if len(wrong):
        raise DataError(
            f"the response {what!r} must be {rule} for family={family!r}, got {response[wrong[0]]:g} in row "
            f"{wrong[0]}. Choose another family, or correct the row."
        )


def split(constant: float) -> tuple[float, float]:
    """A constant of every row as a number that float32 has, and the rest.

    One rounded constant would be off by the same amount in every row: 0.02 nat in a million. The rest, added to numbers
    with random last digits, is rounded up or down so that the mean is right.
    """
    large = float(np.float32(constant))
    return large, constant - large
