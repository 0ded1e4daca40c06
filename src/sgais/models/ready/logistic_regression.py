"""Bayesian softmax regression (appendix B): p(y = k | x) proportional to exp(w_k.x + b_k)."""

import jax
import jax.numpy as jnp
import numpyro.distributions as dist
from jax.lax import Precision

from sgais.errors import require_count
from sgais.fields import Field
from sgais.models.base import Parameters, Rows
from sgais.models.ready.base import ReadyModel
from sgais.models.ready.class_major import chosen, log_sum_exp


class LogisticRegression(ReadyModel):
    """Softmax regression with standard Gaussian priors on all weights and biases.

    Chunks: `{"x": (n, dim), "y": (n,)}` with labels 0, ..., classes - 1.
    Parameters: `weights` (classes, dim), `bias` (classes,).

    Args:
        dim: The number of features.
        classes: The number of classes.

    Example:
        >>> sgais.models.LogisticRegression(dim=3, classes=4).dimension  # 4 times 3 weights and a bias
        16
    """

    def __init__(self, dim: int, classes: int = 2) -> None:
        require_count("dim", dim)
        require_count("classes", classes, smallest=2)
        self.options = {
            "dim": dim,
            "classes": classes,
        }
        super().__init__(
            prior={
                "weights": dist.Normal(0.0, 1.0).expand([classes, dim]).to_event(2),
                "bias": dist.Normal(0.0, 1.0).expand([classes]).to_event(1),
            },
            log_likelihood=self._log_likelihood,
            fields={"x": Field(shape=(dim,)), "y": Field(is_integer=True, num_classes=classes)},
            predictive=self._predictive,
        )

    def _log_likelihood(self, parameters: Parameters, rows: Rows) -> jax.Array:
        """The bias as a weight of a feature that is always one: a product and its derivatives, and nothing else."""
        weights = jnp.concatenate([parameters["weights"], parameters["bias"][:, None]], axis=1)
        features = jnp.concatenate([rows["x"], jnp.ones_like(rows["x"][:, :1])], axis=1)
        logits = jnp.dot(weights, features.T, precision=Precision.HIGHEST)
        return chosen(logits, rows["y"]) - log_sum_exp(logits)

    @staticmethod
    def _predictive(parameters: Parameters, rows: Rows) -> dist.Distribution:
        logits = jnp.dot(rows["x"], parameters["weights"].T, precision=Precision.HIGHEST) + parameters["bias"]
        return dist.CategoricalLogits(logits)
