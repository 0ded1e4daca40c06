"""Ready models, with the priors of the paper's appendix B and the exact evidence where there is one."""

from sgais.models.auto_regression import AutoRegression
from sgais.models.gaussian_mixture import GaussianMixture
from sgais.models.linear_regression import LinearRegression
from sgais.models.logistic_regression import LogisticRegression

__all__ = ["AutoRegression", "GaussianMixture", "LinearRegression", "LogisticRegression"]
