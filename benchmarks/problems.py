"""The problems that several benchmarks share: a model, and data drawn from it."""

from collections.abc import Callable
from typing import Any, NamedTuple

import sgais


class Problem(NamedTuple):
    """A model and its data."""

    model: Any
    simulate: Callable[..., sgais.simulate.Simulation]  # of the number of rows and the seed
    target: float  # the RMS error of log Z that the default promises, in nats


PROBLEMS = {
    "linear": Problem(sgais.models.LinearRegression(dim=5), sgais.simulate.linear_regression, 0.05),
    "auto-regression": Problem(sgais.models.AutoRegression(order=2), sgais.simulate.auto_regression, 0.05),
    "logistic": Problem(sgais.models.LogisticRegression(dim=10, classes=4), sgais.simulate.logistic_regression, 0.05),
    "mixture": Problem(sgais.models.GaussianMixture(components=5, dim=2), sgais.simulate.gaussian_mixture, 0.2),
}
