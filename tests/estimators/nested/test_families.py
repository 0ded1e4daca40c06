"""What families of points differ by, against runs whose error is known."""

import numpy as np
import pytest

from sgais.estimators.nested.diagnostics import FEWEST, first_families, standard_error
from sgais.estimators.nested.integral import integrate, live_counts

NUM_LIVE, NUM_DEATHS = 200, 2000


def perfect_run(generator, families):
    """One death at a time with log L = -X / 0.01, every new point a fresh draw within the contour."""
    volumes, births, family = generator.random(NUM_LIVE), np.full(NUM_LIVE, -np.inf), families.copy()
    dead = []
    for _ in range(NUM_DEATHS):
        worst = int(np.argmax(volumes))
        dead.append((-volumes[worst] / 0.01, births[worst], family[worst]))
        parent = (worst + generator.integers(1, NUM_LIVE)) % NUM_LIVE
        births[worst], family[worst] = dead[-1][0], family[parent]
        volumes[worst] *= generator.random()
    last = np.argsort(-volumes)
    live = np.column_stack([-volumes[last] / 0.01, births[last], family[last]])
    return np.concatenate([np.array(dead), live]).T


def test_fresh_draws_make_families_differ_as_the_volumes_do():
    """The mean square of the families' errors is that of the volumes: 60 of them know it to 5 %."""
    ratios = []
    for seed in range(60):
        deaths, births, families = perfect_run(np.random.default_rng(seed), first_families(NUM_LIVE))
        volumes = integrate(deaths, live_counts(deaths, births)).standard_error
        ratios.append((standard_error(deaths, births, families) / volumes) ** 2)
    assert np.mean(ratios) == pytest.approx(1, abs=4 * np.std(ratios) / np.sqrt(len(ratios)))
    assert np.std(ratios) < 0.6


def test_families_that_are_told_apart_by_their_likelihood_have_a_larger_error():
    """Half of the families live where log L is 3 higher, and their number is what chance made it."""
    deaths, births, families = perfect_run(np.random.default_rng(0), first_families(NUM_LIVE))
    order = np.argsort(deaths + 3.0 * (families % 2), kind="stable")
    better = (deaths + 3.0 * (families % 2))[order]
    born = np.where(np.isfinite(births), births + 3.0 * (families % 2), births)[order]
    volumes = integrate(better, live_counts(better, born)).standard_error
    assert standard_error(better, born, families[order]) > 1.3 * volumes


def test_families_are_equal_and_not_too_few():
    _, sizes = np.unique(first_families(400), return_counts=True)
    assert len(sizes) >= FEWEST
    assert set(sizes) == {10}
    assert set(first_families(20)) == {0}
    assert np.isnan(standard_error(np.arange(3.0), np.full(3, -np.inf), np.arange(3)))
