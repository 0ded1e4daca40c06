"""Streams that change: once or twice, in order and shuffled. What is true of all rows does not depend on the order."""

from collections.abc import Callable
from functools import partial

import numpy as np

import sgais
from benchmarks.calibration.families.linear_model import problem
from benchmarks.calibration.families.mixtures import labels, mixture, modes
from benchmarks.calibration.problem import Problem, Rows, as_float32, shuffled

FAMILY = "streams that change"


def problems() -> list[Problem]:
    once, twice = partial(_regression, 2, 901), partial(_regression, 3, 902)
    return [
        problem("regression changes once, in order", FAMILY, once, 4, 10.0),
        problem("regression changes once, shuffled", FAMILY, partial(_mixed, once), 4, 10.0),
        problem("regression changes twice, in order", FAMILY, twice, 4, 10.0),
        problem("regression changes twice, shuffled", FAMILY, partial(_mixed, twice), 4, 10.0),
        mixture("mixture changes once, in order, K 4", FAMILY, _clusters_once, 4, 2, modes(4, 200), labels(4, 500, 10)),
        mixture(
            "mixture changes once, shuffled, K 4",
            FAMILY,
            partial(_mixed, _clusters_once),
            4,
            2,
            modes(4, 200),
            labels(4, 500, 10),
        ),
        mixture(
            "mixture changes twice, in order, K 3", FAMILY, _clusters_twice, 3, 2, modes(3, 200, 20_000), is_quick=False
        ),
        mixture(
            "mixture changes twice, shuffled, K 3",
            FAMILY,
            partial(_mixed, _clusters_twice),
            3,
            2,
            modes(3, 200, 20_000),
            is_quick=False,
        ),
    ]


def _mixed(rows: Callable[[], Rows]) -> Rows:
    return shuffled(rows())


def _regression(phases: int, seed: int) -> Rows:
    """600 rows for each set of coefficients."""
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(600 * phases, 4))
    b = np.repeat(2.0 * generator.normal(size=(phases, 4)), 600, axis=0)
    return as_float32(x=x, y=(x * b).sum(axis=1) + generator.normal(size=len(x)))


def _clusters_once() -> Rows:
    return sgais.simulate.shifting_mixture((300, 900), (2, 4), seed=907).data


def _clusters_twice() -> Rows:
    return sgais.simulate.shifting_mixture((500, 1500, 4000), (3, 5, 7), seed=904).data
