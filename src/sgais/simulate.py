"""Seeded data like the paper's: drawn from each model with its parameters fixed.

Parameters come from the model's prior where that makes a good example. Data are float32, so that estimators
and exact formulas see the same numbers.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from sgais.errors import require
from sgais.streams.lagged import lagged

__all__ = [
    "Simulation",
    "auto_regression",
    "gaussian_mixture",
    "linear_regression",
    "logistic_regression",
    "shifting_mixture",
]


class Simulation(NamedTuple):
    """Simulated data and the parameters they were drawn with.

    Example:
        >>> simulation = sgais.simulate.linear_regression(100, dim=2)
        >>> sorted(simulation.data), sorted(simulation.parameters)
        (['x', 'y'], ['bias', 'weights'])
    """

    data: dict[str, np.ndarray]
    parameters: dict[str, np.ndarray]


def linear_regression(num_rows: int, dim: int = 5, noise_scale: float = 1.0, seed: int = 0) -> Simulation:
    """Y = w.x + b + noise, with x, w and b standard Gaussian.

    Example:
        >>> sgais.simulate.linear_regression(100, dim=2, seed=1).data["x"].shape
        (100, 2)
    """
    generator = _generator(num_rows, seed)
    weights, bias = generator.normal(size=dim), generator.normal()
    x = _gaussian(generator, (num_rows, dim))
    y = x @ weights + bias + noise_scale * _gaussian(generator, num_rows)
    return _simulation({"x": x, "y": y}, {"weights": weights, "bias": bias})


def logistic_regression(num_rows: int, dim: int = 10, classes: int = 4, seed: int = 0) -> Simulation:
    """Labels from the softmax of w_k.x + b_k, with x, w and b standard Gaussian.

    Example:
        >>> labels = sgais.simulate.logistic_regression(100, dim=2, classes=3).data["y"]
        >>> bool(labels.max() <= 2)
        True
    """
    generator = _generator(num_rows, seed)
    weights, bias = generator.normal(size=(classes, dim)), generator.normal(size=classes)
    x = _gaussian(generator, (num_rows, dim))
    # The largest of logits with Gumbel noise falls on each class with its softmax probability.
    y = np.argmax(x @ weights.T + bias + generator.gumbel(size=(num_rows, classes)), axis=1)
    return _simulation({"x": x, "y": y.astype(np.int32)}, {"weights": weights, "bias": bias})


def auto_regression(num_rows: int, order: int = 2, noise_scale: float = 1.0, seed: int = 0) -> Simulation:
    """A stationary series as lagged rows: the characteristic roots are drawn inside the unit circle.

    Example:
        >>> sgais.simulate.auto_regression(100, order=2).data["x"].shape
        (100, 2)
    """
    generator = _generator(num_rows, seed)
    coefficients = -np.poly(generator.uniform(-0.9, 0.9, size=order))[1:]
    intercept = generator.normal()
    noise = noise_scale * generator.normal(size=num_rows + order)
    series = np.zeros(num_rows + order)
    for step in range(order, num_rows + order):
        series[step] = intercept + coefficients @ series[step - order : step][::-1] + noise[step]
    rows = lagged(series.astype(np.float32), order)
    return _simulation(rows, {"coefficients": coefficients, "intercept": intercept})


def gaussian_mixture(num_rows: int, components: int = 5, dim: int = 2, seed: int = 0) -> Simulation:
    """A mixture of Gaussians with diagonal covariances: means in a box, weights not too small.

    Example:
        >>> sgais.simulate.gaussian_mixture(100, components=3).data["y"].shape
        (100, 2)
    """
    generator = _generator(num_rows, seed)
    parameters = {
        "weights": generator.dirichlet(np.full(components, 5.0)),
        "means": generator.uniform(-4.0, 4.0, size=(components, dim)),
        "variances": generator.uniform(0.4, 1.0, size=(components, dim)) ** 2,
    }
    y = _mixture_rows(generator, num_rows, parameters["weights"], parameters)
    return _simulation({"y": y}, parameters)


def shifting_mixture(
    num_rows: tuple[int, ...] = (1000, 9000, 90000),
    components: tuple[int, ...] = (3, 5, 7),
    dim: int = 2,
    seed: int = 0,
) -> Simulation:
    """The distribution shift of section 6.2: each phase draws from more Gaussians than the one before.

    In each phase all Gaussians so far have equal weight. Of those that a phase adds, every second one overlaps
    with an earlier one; the others stand apart.

    Returns:
        The rows in order, and parameters `means`, `variances` (of all components), `weights` (phases,
        components) and `phase_ends` (the rows at which the distribution changes).

    Example:
        >>> simulation = sgais.simulate.shifting_mixture(num_rows=(100, 200), components=(2, 3))
        >>> simulation.parameters["phase_ends"].tolist()
        [100, 300]
    """
    require(
        len(num_rows) == len(components) and list(components) == sorted(set(components)),
        "components",
        "rise from phase to phase, one number for each phase",
        components,
    )
    generator = _generator(min(num_rows), seed)
    means = _shifting_means(generator, components[0], components[-1], dim)
    variances = generator.uniform(0.4, 0.8, size=means.shape) ** 2
    parameters = {"means": means, "variances": variances}
    weights = np.array([np.arange(components[-1]) < count for count in components]) / np.array(components)[:, None]
    phases = [
        _mixture_rows(generator, rows, phase_weights, parameters)
        for rows, phase_weights in zip(num_rows, weights, strict=True)
    ]
    parameters |= {"weights": weights, "phase_ends": np.cumsum(num_rows)}
    return _simulation({"y": np.concatenate(phases)}, parameters)


def _shifting_means(generator: np.random.Generator, first: int, total: int, dim: int) -> np.ndarray:
    """Means at least 3 apart in a box, but for every second one after the first phase, near an earlier one."""
    means: list[np.ndarray] = []
    half_width = 4.0 * max(1.0, total ** (1.0 / dim) / 3.0)
    while len(means) < total:
        overlaps = len(means) >= first and (len(means) - first) % 2 == 1
        if overlaps:
            direction = generator.normal(size=dim)
            neighbour = means[generator.integers(len(means) - 1)]
            means.append(neighbour + 1.2 * direction / np.linalg.norm(direction))
            continue
        candidate = generator.uniform(-half_width, half_width, size=dim)
        if all(np.linalg.norm(candidate - mean) >= 3.0 for mean in means):
            means.append(candidate)
        else:
            half_width *= 1.02  # never stuck, however many components the box has to hold
    return np.array(means)


def _mixture_rows(
    generator: np.random.Generator, num_rows: int, weights: np.ndarray, parameters: dict[str, np.ndarray]
) -> np.ndarray:
    labels = generator.choice(len(weights), size=num_rows, p=weights)
    noise = generator.normal(size=(num_rows, parameters["means"].shape[1]))
    return parameters["means"][labels] + np.sqrt(parameters["variances"])[labels] * noise


def _generator(num_rows: int, seed: int) -> np.random.Generator:
    require(num_rows >= 1, "num_rows", "be at least 1", num_rows)
    return np.random.default_rng(seed)


def _gaussian(generator: np.random.Generator, shape: int | tuple[int, ...]) -> np.ndarray:
    """Standard Gaussian numbers that float32 holds exactly, so that y fits the x that is returned."""
    return generator.normal(size=shape).astype(np.float32).astype(np.float64)


def _simulation(data: dict[str, np.ndarray], parameters: Mapping[str, object]) -> Simulation:
    columns = {name: values if values.dtype.kind == "i" else values.astype(np.float32) for name, values in data.items()}
    return Simulation(columns, {name: np.asarray(value) for name, value in parameters.items()})
