"""Bayesian linear regression (appendix B): y = w.x + b + noise, standard Gaussian priors, known noise."""

from collections.abc import Sequence

from sgais.errors import require_count
from sgais.models.gaussian_linear import GaussianLinear
from sgais.models.ready import require_features, require_positive


class LinearRegression(GaussianLinear):
    """Linear regression with known noise; its evidence is exact.

    Chunks: `{"x": (n, dim), "y": (n,)}`. Parameters: `weights` (dim,) or (features,), `bias` ().

    Args:
        dim: The number of features.
        noise_scale: The standard deviation of the noise.
        features: The numbers of the features that have a weight, to compare models on the same chunks; all if omitted.
    """

    def __init__(self, dim: int, noise_scale: float = 1.0, features: Sequence[int] | None = None) -> None:
        require_count("dim", dim)
        self.options = {
            "dim": dim,
            "noise_scale": require_positive("noise_scale", noise_scale),
            "features": require_features(dim, features),
        }
        super().__init__(dim, self.options["features"], self.options["noise_scale"], "weights", "bias")
