"""Priors by name: the defaults, those that a user sets instead, and the same ones wider or narrower."""

import re
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpyro.distributions as dist

from sgais.errors import ConfigError

Prior: TypeAlias = dist.Distribution | str

KINDS: Mapping[str, type[dist.Distribution]] = {
    "normal": dist.Normal,
    "student_t": dist.StudentT,
    "cauchy": dist.Cauchy,
    "laplace": dist.Laplace,
    "half_normal": dist.HalfNormal,
    "half_cauchy": dist.HalfCauchy,
    "exponential": dist.Exponential,
    "gamma": dist.Gamma,
    "inverse_gamma": dist.InverseGamma,
    "log_normal": dist.LogNormal,
    "uniform": dist.Uniform,
}
"""What a prior may be called in text, with the arguments that NumPyro's distribution takes, in that order."""
LOCATION_AND_SCALE = (dist.Normal, dist.StudentT, dist.Cauchy, dist.Laplace)


def as_prior(name: str, prior: object) -> dist.Distribution:
    """A prior from a distribution, or from text such as `normal(0, 2.5)`."""
    if isinstance(prior, dist.Distribution):
        if prior.event_shape or prior.batch_shape:
            raise ConfigError(f"`priors` must be of single numbers, got one of shape {prior.shape()} for {name!r}.")
        return prior
    match = re.fullmatch(r"\s*(\w+)\s*\(([^()]*)\)\s*", prior) if isinstance(prior, str) else None
    if match is None or match[1] not in KINDS:
        raise ConfigError(
            f"`priors` must be NumPyro distributions or text such as 'normal(0, 2.5)', got {prior!r} for {name!r}. "
            f"There are {', '.join(KINDS)}."
        )
    kind: Any = KINDS[match[1]]
    arguments = match[2].split(",")
    try:
        if len(arguments) != len(kind.arg_constraints):
            raise TypeError(f"it takes {', '.join(kind.arg_constraints)}")
        return kind(*map(float, arguments), validate_args=True)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"`priors` must have arguments that fit, got {prior!r} for {name!r}: {error}.") from error


def in_words(prior: object) -> str:
    """A prior as text, as short as it can be."""
    if not isinstance(prior, dist.Distribution):
        return "given the parameters above it"
    if isinstance(prior, dist.Independent | dist.ExpandedDistribution):
        return in_words(prior.base_dist)
    values = [getattr(prior, name) for name in prior.arg_constraints if hasattr(prior, name)]
    if isinstance(prior, dist.Dirichlet):
        return f"Dirichlet({float(values[0].reshape(-1)[0]):g}, ...)"
    shown = ", ".join(f"{float(value):g}" for value in values) if all(_is_single(value) for value in values) else "..."
    return f"{type(prior).__name__}({shown})"


def widened(name: str, prior: dist.Distribution, factor: float) -> dist.Distribution:
    """The same prior with a scale that is `factor` times as large."""
    if factor == 1.0:
        return prior
    if not isinstance(prior, LOCATION_AND_SCALE):
        raise ConfigError(
            f"`scale` must be 1 where a prior has no scale of its own, got {factor:g} and {in_words(prior)} for "
            f"{name!r}. Take one of normal, student_t, cauchy, laplace."
        )
    arguments: dict[str, Any] = {each: getattr(prior, each) for each in prior.arg_constraints}
    return type(prior)(**(arguments | {"scale": prior.scale * factor}))


def _is_single(value: Any) -> bool:
    return not getattr(value, "shape", ())
