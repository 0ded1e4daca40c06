"""PyMC's distributions as NumPyro's: by the name of the random variable, from its parameters in PyTensor's order."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import jax
import numpy as np
import numpyro.distributions as dist

Translation: TypeAlias = Callable[..., dist.Distribution]


def _half_student_t(degrees: Any, scale: Any) -> dist.Distribution:
    return dist.FoldedDistribution(dist.StudentT(degrees, 0.0, scale))


def _truncated(location: Any, scale: Any, low: Any, high: Any) -> dist.Distribution:
    """An infinite end is none: NumPyro picks the support, and the map to R, by which ends there are."""
    ends = {name: end for name, end in (("low", low), ("high", high)) if not _is_infinite(end)}
    return dist.TruncatedNormal(location, scale, **ends)


def _is_infinite(end: Any) -> bool:
    return not isinstance(end, jax.core.Tracer) and bool(np.all(np.isinf(end)))


CONTINUOUS: Mapping[str, Translation] = {
    "BetaRV": dist.Beta,
    "CauchyRV": dist.Cauchy,
    "DirichletRV": dist.Dirichlet,
    "ExponentialRV": lambda scale: dist.Exponential(1.0 / scale),
    "GammaRV": lambda shape, scale: dist.Gamma(shape, 1.0 / scale),
    "GumbelRV": dist.Gumbel,
    "HalfCauchyRV": dist.HalfCauchy,
    "HalfNormalRV": lambda _, scale: dist.HalfNormal(scale),
    "HalfStudentTRV": _half_student_t,
    "InvGammaRV": dist.InverseGamma,
    "LaplaceRV": dist.Laplace,
    "LogisticRV": dist.Logistic,
    "LogNormalRV": dist.LogNormal,
    "MvNormalRV": dist.MultivariateNormal,
    "NormalRV": dist.Normal,
    "StudentTRV": dist.StudentT,
    "TruncatedNormalRV": _truncated,
    "UniformRV": dist.Uniform,
    "WeibullBetaRV": lambda shape, scale: dist.Weibull(scale, shape),
}
"""Those that a prior can be; the density of each is held against PyMC's own when a model is taken."""

OBSERVED: Mapping[str, Translation] = {
    **CONTINUOUS,
    "BernoulliRV": dist.BernoulliProbs,
    "BinomialRV": lambda trials, probability: dist.BinomialProbs(probability, trials),
    "CategoricalRV": dist.CategoricalProbs,
    "NegBinomialRV": lambda count, probability: dist.NegativeBinomialProbs(count, 1.0 - probability),
    "PoissonRV": dist.Poisson,
}
"""Those that an observation can be drawn from for a prediction; a density needs none of them."""
