"""Auto-regression, the paper's conditionally Markov data: the likelihood factors given the lagged values."""

from sgais.errors import require_count
from sgais.models.gaussian_linear import GaussianLinear
from sgais.models.ready import require_positive


class AutoRegression(GaussianLinear):
    """y_t = c + a_1 y_(t-1) + ... + a_p y_(t-p) + noise with standard Gaussian priors; its evidence is exact.

    Chunks: `{"x": (n, order), "y": (n,)}`, where row t of `x` holds the values before y_t, newest first:
    `sgais.streams.lagged(series, order)` makes them. Parameters: `coefficients` (order,), `intercept` ().
    The first `order` values of a series are conditioned on.

    Args:
        order: The number of lagged values.
        noise_scale: The standard deviation of the noise.
    """

    def __init__(self, order: int, noise_scale: float = 1.0) -> None:
        require_count("order", order)
        self.options = {
            "order": order,
            "noise_scale": require_positive("noise_scale", noise_scale),
        }
        super().__init__(order, None, self.options["noise_scale"], "coefficients", "intercept")
