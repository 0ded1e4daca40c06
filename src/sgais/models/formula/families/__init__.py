"""How a response is distributed around what the terms predict."""

from sgais.models.formula.families.base import Family
from sgais.models.formula.families.classes import Bernoulli, Binomial, Categorical, Ordinal
from sgais.models.formula.families.counts import NegativeBinomial, Poisson
from sgais.models.formula.families.measured import Gamma, Gaussian, StudentT

KINDS: tuple[type[Family], ...] = (
    Gaussian,
    StudentT,
    Bernoulli,
    Binomial,
    Categorical,
    Ordinal,
    Poisson,
    NegativeBinomial,
    Gamma,
)
FAMILIES: dict[str, Family] = {kind.name: kind() for kind in KINDS}
"""All families by name."""
