"""The models of appendix B and their data, by name."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

import sgais

SHUFFLING_SEED = 1
APPENDIX, IN_ORDER, SHUFFLED = "appendix a", "shift, in order", "shift, shuffled"
Columns = dict[str, np.ndarray]


class Problem(NamedTuple):
    """A model, which may have parameters of its own, and its data."""

    model: Callable[..., Any]
    simulate: Callable[[int, int], sgais.simulate.Simulation]  # of the number of rows and the data set


def shift_phases(num_rows: int) -> tuple[int, int, int]:
    """Rows of each phase: 1000, 9000 and 90,000 of 100,000, as in section 6.2."""
    return num_rows // 100, 9 * num_rows // 100, num_rows - num_rows // 100 - 9 * num_rows // 100


def change_points(num_rows: int) -> tuple[int, int]:
    """The rows at which the distribution changes."""
    first, second, _ = shift_phases(num_rows)
    return first, first + second


def model_of(problem: str, parameters: Mapping[str, float]) -> Any:
    """The model; how many components it has is the one parameter that is not the method's."""
    chosen = {"components": int(parameters["components"])} if "components" in parameters else {}
    return PROBLEMS[problem].model(**chosen)


@lru_cache(maxsize=2)
def simulation_of(problem: str, num_rows: int, data_set: int = 0) -> sgais.simulate.Simulation:
    """The most rows, of which fewer are the first. Kept, since runs of a kind follow each other."""
    return PROBLEMS[problem].simulate(num_rows, data_set)


def first_rows(data: Columns, num_rows: int) -> Columns:
    """As many of them."""
    return {name: values[:num_rows] for name, values in data.items()}


def _shifting(num_rows: int, data_set: int) -> sgais.simulate.Simulation:
    return sgais.simulate.shifting_mixture(shift_phases(num_rows), seed=data_set)


def _shuffled(num_rows: int, data_set: int) -> sgais.simulate.Simulation:
    data, parameters = _shifting(num_rows, data_set)
    order = np.random.default_rng(SHUFFLING_SEED).permutation(num_rows)
    return sgais.simulate.Simulation({name: values[order] for name, values in data.items()}, parameters)


PROBLEMS = {
    "linear": Problem(
        lambda: sgais.models.LinearRegression(dim=5),
        lambda rows, data_set: sgais.simulate.linear_regression(rows, dim=5, seed=data_set),
    ),
    "logistic": Problem(
        lambda: sgais.models.LogisticRegression(dim=10, classes=4),
        lambda rows, data_set: sgais.simulate.logistic_regression(rows, dim=10, classes=4, seed=data_set),
    ),
    "mixture": Problem(
        lambda: sgais.models.GaussianMixture(components=5, dim=2),
        lambda rows, data_set: sgais.simulate.gaussian_mixture(rows, components=5, dim=2, seed=data_set),
    ),
    IN_ORDER: Problem(lambda components: sgais.models.GaussianMixture(components=components, dim=2), _shifting),
    SHUFFLED: Problem(lambda components: sgais.models.GaussianMixture(components=components, dim=2), _shuffled),
    APPENDIX: Problem(
        lambda: sgais.models.GaussianMixture(components=3, dim=1),
        lambda rows, data_set: sgais.simulate.gaussian_mixture(rows, components=3, dim=1, seed=data_set),
    ),
}
