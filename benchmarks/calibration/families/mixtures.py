"""Gaussian mixtures: separated, overlapping, small, with too few and too many components, and rows of other shapes."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import sgais
from benchmarks.calibration.problem import Method, Problem, Rows, as_float32
from benchmarks.calibration.truths_collapsed import collapsed
from benchmarks.calibration.truths_mixture import around_modes

SEPARATED, OVERLAPPING, SMALL = "mixture, separated", "mixture, overlapping", "mixture, small"
TOO_FEW, TOO_MANY, SHAPES = "mixture, too few components", "mixture, too many components", "mixture, other shapes"


def problems() -> list[Problem]:
    return [*_separated(), *_overlapping(), *_small(), *_misfits(), *_shapes()]


def modes(components: int, starts: int = 60, draws: int = 40_000) -> Method:
    """Truth by importance sampling around EM's modes."""
    return partial(around_modes, components=components, starts=starts, draws=draws)


def labels(components: int, particles: int = 1000, replicates: int = 16) -> Method:
    """Truth by sequential Monte Carlo over labels."""
    return partial(collapsed, components=components, particles=particles, replicates=replicates)


def mixture(
    name: str,
    family: str,
    rows: Callable[[], Rows],
    components: int,
    dim: int,
    truth: Method,
    check: Method | None = None,
    **more: Any,
) -> Problem:
    """A problem with the library's own mixture."""
    return Problem(name, family, partial(sgais.models.GaussianMixture, components, dim), rows, truth, check, **more)


def _separated() -> list[Problem]:
    return [
        mixture(
            "separated, K 3, 1-D, 500 rows", SEPARATED, partial(_clusters, 500, 3, 1, 801), 3, 1, modes(3), labels(3)
        ),
        mixture(
            "separated, K 3, 2-D, 500 rows", SEPARATED, partial(_clusters, 500, 3, 2, 802), 3, 2, modes(3), labels(3)
        ),
        mixture("separated, K 4, 2-D, 2000 rows", SEPARATED, partial(_clusters, 2000, 4, 2, 803), 4, 2, modes(4)),
        mixture(
            "separated, K 5, 2-D, 10,000 rows",
            SEPARATED,
            partial(_unequal, 10_000, 804),
            5,
            2,
            modes(5, 60, 20_000),
            is_quick=False,
        ),
    ]


def _overlapping() -> list[Problem]:
    return [
        mixture("overlapping, K 2, 1-D, 200 rows", OVERLAPPING, partial(_overlap, 200, 2, 1, 811), 2, 1, labels(2)),
        mixture("overlapping, K 3, 1-D, 400 rows", OVERLAPPING, partial(_overlap, 400, 3, 1, 812), 3, 1, labels(3)),
        mixture(
            "overlapping, K 3, 2-D, 400 rows", OVERLAPPING, partial(_overlap, 400, 3, 2, 813), 3, 2, labels(3, 3000)
        ),
        mixture(
            "overlapping, K 2, 2-D, 2000 rows",
            OVERLAPPING,
            partial(_overlap, 2000, 2, 2, 814),
            2,
            2,
            modes(2),
            labels(2, 400, 8),
        ),
    ]


def _small() -> list[Problem]:
    found = []
    for components, count, seed in ((3, 60, 821), (4, 84, 822)):
        rows, name = partial(_overlap, count, components, 1, seed), f"small, K {components}, {count} rows"
        undeclared = f"{name}, undeclared"
        found.append(mixture(name, SMALL, rows, components, 1, labels(components, 4000, 10), modes(components)))
        found.append(Problem(undeclared, SMALL, partial(_undeclared, components, 1), rows, same_truth_as=name))
    return found


def _misfits() -> list[Problem]:
    few = [
        mixture("7 clusters, K 3", TOO_FEW, partial(_clusters, 2000, 7, 2, 831), 3, 2, modes(3, 300)),
        mixture("9 clusters, K 3", TOO_FEW, partial(_clusters, 2000, 9, 2, 832), 3, 2, modes(3, 300)),
        mixture(
            "7 clusters, K 5", TOO_FEW, partial(_clusters, 2000, 7, 2, 833), 5, 2, modes(5, 300, 20_000), is_quick=False
        ),
        mixture(
            "9 clusters, K 5", TOO_FEW, partial(_clusters, 2000, 9, 2, 834), 5, 2, modes(5, 300, 20_000), is_quick=False
        ),
    ]
    many = [
        mixture("2 clusters, K 4", TOO_MANY, partial(_clusters, 400, 2, 2, 841), 4, 2, labels(4)),
        mixture("3 clusters, K 5", TOO_MANY, partial(_clusters, 300, 3, 2, 842), 5, 2, labels(5, 4000)),
        mixture("2 clusters, K 3, 1-D", TOO_MANY, partial(_clusters, 200, 2, 1, 843), 3, 1, labels(3)),
        mixture("1 cluster, K 3, 1-D", TOO_MANY, partial(_clusters, 400, 1, 1, 844), 3, 1, labels(3)),
    ]
    return few + many


def _shapes() -> list[Problem]:
    return [
        mixture("two moons, K 3", SHAPES, _moons, 3, 2, modes(3, 200)),
        mixture("rings, K 4", SHAPES, _rings, 4, 2, modes(4, 200)),
        mixture("heavy tails, K 3, 1-D", SHAPES, partial(_heavy, 400, 1), 3, 1, labels(3, 4000), modes(3)),
        mixture("heavy tails, K 2, 2-D", SHAPES, partial(_heavy, 1000, 2), 2, 2, modes(2), labels(2)),
    ]


def _undeclared(components: int, dim: int) -> sgais.Model:
    """The library's mixture, without a word about its labels."""
    ready = sgais.models.GaussianMixture(components, dim)
    return sgais.Model(ready.prior, ready.log_likelihood, ready.fields)


def draw(generator: np.random.Generator, num_rows: int, means: np.ndarray, spreads: np.ndarray) -> Rows:
    """Rows around means that are equally likely."""
    label = generator.integers(len(means), size=num_rows)
    return as_float32(y=means[label] + spreads[label] * generator.normal(size=(num_rows, means.shape[1])))


def _clusters(num_rows: int, clusters: int, dim: int, seed: int) -> Rows:
    """Clusters that do not touch: in one dimension in a row, in two in a square grid that is not quite one."""
    generator = np.random.default_rng(seed)
    if dim == 1:
        means = 5.0 * (np.arange(clusters) - (clusters - 1) / 2)[:, None]
    else:
        side = int(np.ceil(np.sqrt(clusters)))
        grid = np.array([(i, j) for i in range(side) for j in range(side)][:clusters])
        means = 4.0 * (grid - grid.mean(axis=0)) + generator.uniform(-0.7, 0.7, size=(clusters, 2))
    spreads = generator.uniform(0.4, 0.8, size=(clusters, dim))
    return draw(generator, num_rows, means, spreads)


def _unequal(num_rows: int, seed: int) -> Rows:
    """Five clusters of unequal size, anywhere in a square. No gamma variables: they differ from machine to machine."""
    generator = np.random.default_rng(seed)
    means, spreads = generator.uniform(-4, 4, size=(5, 2)), generator.uniform(0.4, 1.0, size=(5, 2))
    label = np.searchsorted([0.1, 0.25, 0.45, 0.7], generator.random(num_rows))
    return as_float32(y=means[label] + spreads[label] * generator.normal(size=(num_rows, 2)))


def _overlap(num_rows: int, clusters: int, dim: int, seed: int) -> Rows:
    """Means about two deviations apart."""
    generator = np.random.default_rng(seed)
    means = np.zeros((clusters, dim))
    means[:, 0] = 1.8 * (np.arange(clusters) - (clusters - 1) / 2)
    return draw(generator, num_rows, means, generator.uniform(0.7, 1.0, size=(clusters, dim)))


def _moons() -> Rows:
    generator = np.random.default_rng(851)
    angle, lower = np.pi * generator.random(1000), generator.random(1000) < 0.5
    x = np.where(lower, 1 - np.cos(angle), np.cos(angle)) - 0.5
    y = np.where(lower, 0.5 - np.sin(angle), np.sin(angle)) - 0.25
    return as_float32(y=2.0 * np.column_stack([x, y]) + 0.2 * generator.normal(size=(1000, 2)))


def _rings() -> Rows:
    generator = np.random.default_rng(852)
    angle, radius = 2 * np.pi * generator.random(1000), np.where(generator.random(1000) < 0.6, 3.0, 0.7)
    rows = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return as_float32(y=rows + 0.25 * generator.normal(size=(1000, 2)))


def _heavy(num_rows: int, dim: int) -> Rows:
    return as_float32(y=np.random.default_rng(853 + dim).standard_t(2.5, size=(num_rows, dim)))
