"""Ready models, with the priors of the paper's appendix B and the exact evidence where there is one."""

from sgais.models.ready.gaussian_mixture import GaussianMixture
from sgais.models.ready.linear_gaussian import AutoRegression, LinearRegression
from sgais.models.ready.logistic_regression import LogisticRegression

__all__ = ["AutoRegression", "GaussianMixture", "LinearRegression", "LogisticRegression"]
