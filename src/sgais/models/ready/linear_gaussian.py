"""Regression with Gaussian noise of known scale and standard Gaussian priors: evidence in closed form.

y = w.x + b + noise, w and b ~ N(0, 1). With the design matrix A = [x, 1] and precision
P = I + A'A / s^2 of the posterior, everything follows from P, A'y and y'y (float64 on the host).
"""

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
from jax.lax import Precision

from sgais.errors import require, require_count
from sgais.fields import Chunk, Field, check_chunk, num_rows
from sgais.models.base import Parameters, Rows
from sgais.models.ready.base import ReadyModel, require_features, require_positive

LOG_2_PI = float(np.log(2 * np.pi))


class GaussianLinear(ReadyModel):
    """The common part of linear regression and auto-regression: how rows and evidence are computed."""

    def __init__(
        self, num_inputs: int, features: Sequence[int] | None, noise_scale: float, coefficients: str, intercept: str
    ) -> None:
        self.noise_scale = noise_scale
        # All of them are taken as they are: selecting them would cost a copy of every block.
        self._features = None if features is None else np.array(features)
        self._coefficients, self._intercept = coefficients, intercept
        super().__init__(
            prior={
                coefficients: dist.Normal(0.0, 1.0).expand([len(features or range(num_inputs))]).to_event(1),
                intercept: dist.Normal(0.0, 1.0),
            },
            log_likelihood=self._log_likelihood,
            fields={"x": Field(shape=(num_inputs,)), "y": Field()},
            predictive=lambda parameters, rows: dist.Normal(self._mean(parameters, rows), noise_scale),
        )

    def log_evidence(self, data: object) -> float:
        """The exact log evidence of all rows of `data`."""
        chunk = self._checked(data)
        return float(self._evidence_after(chunk, [num_rows(chunk)])[0])

    def log_evidence_curve(self, data: object, rows: Sequence[int]) -> np.ndarray:
        """The exact log evidence of the first n rows, for each n of an ascending sequence."""
        chunk, ends = self._checked(data), np.asarray(rows)
        ascending = ends.ndim == 1 and ends.dtype.kind in "iu" and bool(np.all(np.diff(ends, prepend=0) > 0))
        within = ascending and bool(np.all(ends <= num_rows(chunk)))
        require(within, "rows", f"be ascending whole numbers from 1 to {num_rows(chunk)}", rows)
        return self._evidence_after(chunk, rows)

    def log_predictives(self, data: object) -> np.ndarray:
        """The exact log p(row | rows before it) of every row, by sequential (Kalman) updates.

        Their sum is the log evidence; unlike `log_evidence` it never forms the posterior precision.
        """
        design, targets = self._design(self._checked(data))
        mean, covariance = np.zeros(design.shape[1]), np.eye(design.shape[1])
        logs = np.empty(len(targets))
        for row, (inputs, target) in enumerate(zip(design, targets, strict=True)):
            spread = covariance @ inputs
            variance = inputs @ spread + self.noise_scale**2
            residual = target - inputs @ mean
            logs[row] = -0.5 * (LOG_2_PI + np.log(variance) + residual**2 / variance)
            mean = mean + spread * (residual / variance)
            covariance = covariance - np.outer(spread, spread) / variance
        return logs

    def _log_likelihood(self, parameters: Parameters, rows: Rows) -> jnp.ndarray:
        residual = (rows["y"] - self._mean(parameters, rows)) / self.noise_scale
        # A constant rounded to float32 would be off by the same amount in every row: 0.02 nat in a million. Its
        # small part, added to numbers with random last digits, is rounded up or down so that the mean is right.
        constant = 0.5 * LOG_2_PI + float(np.log(self.noise_scale))
        large = float(np.float32(constant))
        return -(0.5 * residual**2 + (constant - large)) - large

    def _mean(self, parameters: Parameters, rows: Rows) -> jnp.ndarray:
        x = rows["x"] if self._features is None else rows["x"][:, self._features]
        return jnp.dot(x, parameters[self._coefficients], precision=Precision.HIGHEST) + parameters[self._intercept]

    def _checked(self, data: object) -> Chunk:
        assert self.fields is not None
        return check_chunk(data, self.fields, np.dtype(np.float64))

    def _design(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        x = chunk["x"] if self._features is None else chunk["x"][:, self._features]
        return np.column_stack([x, np.ones(num_rows(chunk))]), chunk["y"]

    def _evidence_after(self, chunk: Chunk, ends: Sequence[int]) -> np.ndarray:
        design, targets = self._design(chunk)
        precision, weighted = np.eye(design.shape[1]), np.zeros(design.shape[1])
        curve, start, squares = np.empty(len(ends)), 0, 0.0
        for place, end in enumerate(ends):
            inputs, outputs = design[start:end] / self.noise_scale, targets[start:end] / self.noise_scale
            precision = precision + inputs.T @ inputs
            weighted = weighted + inputs.T @ outputs
            squares += float(outputs @ outputs)
            misfit = squares - weighted @ np.linalg.solve(precision, weighted)
            volume = np.linalg.slogdet(precision)[1]
            curve[place] = -0.5 * (end * (LOG_2_PI + 2 * np.log(self.noise_scale)) + volume + misfit)
            start = end
        return curve


class LinearRegression(GaussianLinear):
    """Linear regression with known noise; its evidence is exact.

    Chunks: `{"x": (n, dim), "y": (n,)}`. Parameters: `weights` (dim,) or (features,), `bias` ().

    Args:
        dim: The number of features.
        noise_scale: The standard deviation of the noise.
        features: The numbers of the features that have a weight, to compare models on the same chunks; all if omitted.

    Example:
        >>> model = sgais.models.LinearRegression(dim=2)
        >>> bool(model.log_evidence({"x": np.zeros((3, 2)), "y": np.zeros(3)}) < 0)  # exact
        True
    """

    def __init__(self, dim: int, noise_scale: float = 1.0, features: Sequence[int] | None = None) -> None:
        require_count("dim", dim)
        self.options = {
            "dim": dim,
            "noise_scale": require_positive("noise_scale", noise_scale),
            "features": require_features(dim, features),
        }
        super().__init__(dim, self.options["features"], self.options["noise_scale"], "weights", "bias")


class AutoRegression(GaussianLinear):
    """y_t = c + a_1 y_(t-1) + ... + a_p y_(t-p) + noise with standard Gaussian priors; its evidence is exact.

    Chunks: `{"x": (n, order), "y": (n,)}`, where row t of `x` holds the values before y_t, newest first:
    `sgais.streams.lagged(series, order)` makes them. Parameters: `coefficients` (order,), `intercept` ().
    The first `order` values of a series are conditioned on.

    Args:
        order: The number of lagged values.
        noise_scale: The standard deviation of the noise.

    Example:
        >>> series = np.sin(np.arange(50.0))
        >>> rows = sgais.streams.lagged(series, order=2)
        >>> models = {order: sgais.models.AutoRegression(order) for order in (1, 2)}
        >>> bool(models[2].log_evidence(rows) < 0)
        True
    """

    def __init__(self, order: int, noise_scale: float = 1.0) -> None:
        require_count("order", order)
        self.options = {
            "order": order,
            "noise_scale": require_positive("noise_scale", noise_scale),
        }
        super().__init__(order, None, self.options["noise_scale"], "coefficients", "intercept")
