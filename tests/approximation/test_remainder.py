"""What the log posterior has beyond second order, against differences of log densities in float64."""

from dataclasses import replace

import numpy as np

import sgais
from sgais.approximation.remainder import Steps, by_group, from_anchors, of_prior, of_rows
from sgais.approximation.taylor import at_anchor, with_rows
from sgais.compute.blocks import slabs

LOGISTIC = sgais.models.LogisticRegression(dim=3, classes=3)
LABELS = sgais.simulate.logistic_regression(20_000, dim=3, classes=3, seed=1).data


def head(rows):
    return {name: values[:rows] for name, values in LABELS.items()}


def random_steps(num_modes, num_particles=6, size=0.2):
    generator = np.random.default_rng(2)
    anchors = generator.normal(size=(num_modes, 12)).astype(np.float32).astype(np.float64)
    modes = np.arange(num_particles) % num_modes
    ends = (anchors[modes] + size * generator.normal(size=(num_particles, 12)) for _ in range(2))
    return Steps(*(end.astype(np.float32).astype(np.float64) for end in ends), anchors, modes, (None,) * num_modes)


def test_the_remainder_is_what_the_surrogate_leaves():
    steps, rows = random_steps(num_modes=2), head(700)
    found, variance = of_rows(LOGISTIC, steps, rows, 700)
    found += of_prior(LOGISTIC, steps)
    surrogates = [with_rows(LOGISTIC, at_anchor(LOGISTIC, anchor), slabs(rows)) for anchor in steps.anchors]

    def beyond(position, mode):
        pointwise = np.asarray(LOGISTIC.log_likelihood_at(np.float32(position), rows), float)
        exact = pointwise.sum() + float(LOGISTIC.log_prior_at(np.float32(position)))
        return exact - surrogates[mode].values_at(position[None])[0]

    expected = [
        beyond(after, mode) - beyond(before, mode)
        for before, after, mode in zip(steps.before, steps.after, steps.modes, strict=True)
    ]
    np.testing.assert_allclose(found, expected, atol=2e-3)
    assert np.abs(expected).max() > 0.1, "there is something to find"
    np.testing.assert_array_equal(variance, 0.0)


def test_a_sample_is_off_by_what_it_says():
    steps = random_steps(num_modes=1, size=0.05)
    exact, _ = of_rows(LOGISTIC, steps, head(20_000), 20_000)
    scores = []
    for seed in range(20):
        chosen = np.random.default_rng(seed).choice(20_000, 3000)
        found, variance = of_rows(LOGISTIC, steps, {name: values[chosen] for name, values in LABELS.items()}, 20_000)
        scores.append((found - exact) / np.sqrt(variance))
    # The particles share their rows, so that only the 20 samples count as independent.
    assert 0.6 < np.sqrt(np.mean(np.square(scores))) < 1.5


def test_the_mean_over_particles_is_off_by_what_it_says():
    """They share their rows: their errors do not average out, and the variance of the mean knows it."""
    steps, aside = random_steps(num_modes=1, num_particles=16, size=0.02), 0.1 * (-1.0) ** np.arange(12)
    steps = steps._replace(before=steps.anchors[steps.modes], after=steps.after + aside)  # all of them on one side
    shares = np.random.default_rng(4).dirichlet(np.ones(16))
    exact = by_group(LOGISTIC, steps, head(20_000), 20_000).values @ shares
    errors, variances, if_independent = [], [], []
    for seed in range(40):
        chosen = np.random.default_rng(seed).choice(20_000, 3000)
        found = by_group(LOGISTIC, steps, {name: values[chosen] for name, values in LABELS.items()}, 20_000)
        errors.append(found.values @ shares - exact)
        variances.append(found.variance_of_mean(shares))
        if_independent.append(shares**2 @ found.variance)
    # The spread of 40 is known to a ninth of itself; that of the variances from 24 groups is less.
    assert 0.65 < np.sqrt(np.mean(np.square(errors)) / np.mean(variances)) < 1.4
    assert np.mean(np.square(errors)) > 2 * np.mean(if_independent), "they share their rows"


def test_all_rows_leave_nothing_to_chance():
    found = by_group(LOGISTIC, random_steps(num_modes=1), head(3000), 3000)
    assert found.variance_of_mean(np.full(6, 1 / 6)) == 0.0


def test_coordinates_in_which_rows_are_differentiated_make_no_difference():
    """But for rounding; the basis is far from the identity."""
    plain = with_rows(LOGISTIC, at_anchor(LOGISTIC, np.full(12, 0.1)), slabs(head(700)))
    scales = 10.0 ** np.linspace(-1, 1, 12)
    turned = np.linalg.qr(np.random.default_rng(0).normal(size=(12, 12)))[0] * scales
    in_basis = replace(plain, basis=turned.astype(np.float32).astype(np.float64))
    at = np.random.default_rng(1).normal(0.1, 0.1, size=(5, 12)).astype(np.float32).astype(np.float64)
    found = [
        of_rows(LOGISTIC, from_anchors([surrogate], np.zeros(5, int), at), head(700), 700)[0]
        for surrogate in (plain, in_basis)
    ]
    np.testing.assert_allclose(found[0], found[1], atol=2e-3)
    assert np.abs(found[0]).max() > 0.05, "there is something to find"


def test_linear_regression_leaves_nothing():
    model = sgais.models.LinearRegression(dim=4)
    data = sgais.simulate.linear_regression(3000, dim=4, seed=1).data
    before, after = np.random.default_rng(3).normal(size=(2, 4, 5)).astype(np.float32).astype(np.float64)
    found, _ = of_rows(model, Steps(before, after, np.zeros((1, 5)), np.zeros(4, int), (None,)), data, 3000)
    assert np.abs(found).max() < 0.02
