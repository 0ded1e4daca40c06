"""What a mixture of Gaussians may be told, checked."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from sgais.errors import ConfigError, require
from sgais.models.ready.base import require_positive

Unit = float | tuple[float, ...]


class MixturePrior(NamedTuple):
    """The numbers of a mixture's prior; the defaults are the paper's.

    Attributes:
        concentration: weights ~ Dirichlet(concentration).
        shape: variances ~ InverseGamma(shape, rate), in units of the data's `scale` squared.
        rate: See `shape`.
        spread: means ~ Normal(centre, spread standard deviations of the component).
        correlation: correlations ~ LKJ(correlation): 1 is uniform, more prefers small ones.
    """

    concentration: float = 1.0
    shape: float = 1.0
    rate: float = 1.0
    spread: float = 2.0
    correlation: float = 1.0


def as_prior(prior: Mapping[str, float] | MixturePrior | None) -> MixturePrior:
    """A prior from what a user gave."""
    named = {} if prior is None else prior._asdict() if isinstance(prior, MixturePrior) else prior
    require(isinstance(named, Mapping), "prior", "be a dictionary of numbers by name", prior)
    unknown = [name for name in named if name not in MixturePrior._fields]
    require(not unknown, "prior", f"have names of {list(MixturePrior._fields)}", unknown[:1])
    return MixturePrior(**{name: require_positive(name, value) for name, value in named.items()})


def as_unit(name: str, value: float | Iterable[float] | None, dim: int) -> Unit | None:
    """A number, or one for each dimension; None stands for that of standardised data."""
    if value is None:
        return None
    try:
        numbers = np.asarray(list(value) if isinstance(value, Iterable) else [value], np.float64)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"`{name}` must be a number, or one for each dimension, got {value!r}.") from error
    is_known = numbers.shape in ((1,), (dim,)) and bool(np.isfinite(numbers).all())
    require(is_known, name, f"be a number, or {dim} of them", value)
    require(name != "scale" or bool((numbers > 0).all()), name, "be positive", value)
    return float(numbers[0]) if len(numbers) == 1 else tuple(float(number) for number in numbers)
