"""Bayesian linear regression (appendix B): y = w.x + b + noise, standard Gaussian priors, known noise."""

from sgais.errors import require_count
from sgais.models.gaussian_linear import GaussianLinear
from sgais.models.ready import require_positive


class LinearRegression(GaussianLinear):
    """Linear regression with known noise; its evidence is exact.

    Chunks: `{"x": (n, dim), "y": (n,)}`. Parameters: `weights` (dim,), `bias` ().

    Args:
        dim: The number of features.
        noise_scale: The standard deviation of the noise.
    """

    def __init__(self, dim: int, noise_scale: float = 1.0) -> None:
        require_count("dim", dim)
        self.options = {
            "dim": dim,
            "noise_scale": require_positive("noise_scale", noise_scale),
        }
        super().__init__(dim, self.options["noise_scale"], coefficients="weights", intercept="bias")
