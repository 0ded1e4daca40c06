"""Truths of the calibration suite, each against another way to find it."""

from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp
from scipy.stats import halfcauchy, halfnorm, multivariate_normal, norm

from benchmarks.calibration.problem import Truth
from benchmarks.calibration.suite import suite
from benchmarks.calibration.truths import load, settle, stale
from benchmarks.calibration.truths_collapsed import collapsed
from benchmarks.calibration.truths_glm import logistic, logistic_tempered
from benchmarks.calibration.truths_grid import log_half_normal
from benchmarks.calibration.truths_groups import funnel, horseshoe, random_intercepts
from benchmarks.calibration.truths_linear import half_normal_scale, known_scale
from benchmarks.calibration.truths_mixture import around_modes, find_modes, join, split

GENERATOR = np.random.default_rng(0)


def plain_sum(density, first, second):
    """An integral over a box, as a sum over the middles of many cells."""
    sides = [np.linspace(low, high, 400, endpoint=False) + (high - low) / 800 for low, high in (first, second)]
    cell = np.prod([side[1] - side[0] for side in sides])
    return np.log(density(sides[0][:, None], sides[1]).sum() * cell)


def test_unknown_scale_against_brute_force():
    x, y = np.array([1.0, -0.5, 2.0, 0.3]), np.array([1.2, -0.1, 2.9, 0.0])

    def density(b, sigma):
        rows = norm.logpdf(y, b[..., None] * x, sigma[..., None]).sum(axis=-1)
        return np.exp(rows) * norm.pdf(b, 0.5, 2.0) * halfnorm.pdf(sigma, scale=3.0)

    truth = half_normal_scale({"x": x[:, None], "y": y}, 2.0, 3.0, means=0.5)
    assert truth.log_evidence == pytest.approx(plain_sum(density, (-10, 10), (0, 20)), abs=1e-3)


def test_known_scale_against_the_joint_density_of_all_rows():
    x, y = GENERATOR.normal(size=(7, 3)), GENERATOR.normal(size=7)
    scales = np.array([1.0, 100.0, 3.0])
    covariance = 0.25 * np.eye(7) + (x * scales**2) @ x.T
    expected = multivariate_normal.logpdf(y, np.zeros(7), covariance)
    assert known_scale({"x": x, "y": y}, scales, 0.5).log_evidence == pytest.approx(expected, abs=1e-8)


def test_random_intercepts_against_the_joint_density_of_all_rows():
    group, y = np.array([0, 1, 0, 1, 1]), np.array([1.0, -1.0, 1.5, -0.4, -2.0])
    same = group[:, None] == group

    def density(tau, sigma):
        covariance = (sigma**2)[..., None, None] * np.eye(5) + (tau**2)[..., None, None] * same + 100.0
        misfit = np.einsum("i,...ij,j", y, np.linalg.inv(covariance), y)
        rows = np.exp(-0.5 * (misfit + np.linalg.slogdet(2 * np.pi * covariance)[1]))
        return rows * halfnorm.pdf(tau, scale=2.0) * halfnorm.pdf(sigma, scale=2.0)

    brute = plain_sum(density, (0, 12), (0, 12))

    def prior(scale):
        return log_half_normal(scale, 2.0)

    truth = random_intercepts({"group": group, "y": y}, 10.0, prior, prior)
    assert truth.log_evidence == pytest.approx(brute, abs=1e-3)


def test_horseshoe_and_funnel_against_draws_from_the_prior():
    draws, group, y = 400_000, np.array([0, 1, 0]), np.array([2.0, -0.3, 2.5])
    tau, local = halfcauchy.rvs(size=draws, random_state=1), halfcauchy.rvs(size=(draws, 2), random_state=2)
    standard = np.random.default_rng(3).normal(size=(draws, 3))
    for effects, truth in (
        (standard[:, :2] * local * tau[:, None], horseshoe({"group": group, "y": y})),
        (standard[:, :2] * np.exp(1.5 * standard[:, 2:]), funnel({"group": group, "y": y}, 3.0, 1.0)),
    ):
        logs = norm.logpdf(y, effects[:, group]).sum(axis=1)
        assert truth.log_evidence == pytest.approx(logsumexp(logs) - np.log(draws), abs=0.02)


def enumerated(y, components):
    """Log Z of a mixture, summed over every labelling of its rows."""
    logs = []
    for labels in product(range(components), repeat=len(y)):
        parts = [y[np.array(labels) == label] for label in range(components)]
        counts = gammaln([len(part) + 1 for part in parts]).sum() + gammaln(components) - gammaln(components + len(y))
        logs.append(counts + sum(log_marginal(part[:, d]) for part in parts for d in range(y.shape[1])))
    return logsumexp(logs)


def log_marginal(values):
    """Log density of a component's values: variance ~ inverse gamma(1, 1), mean ~ N(0, 4 variance)."""
    count = len(values)
    precision, shape = 0.25 + count, 1 + count / 2
    rate = 1 + 0.5 * ((values**2).sum() - values.sum() ** 2 / precision)
    return gammaln(shape) - shape * np.log(rate) + 0.5 * np.log(0.25 / precision) - 0.5 * count * np.log(2 * np.pi)


@pytest.mark.parametrize(("components", "dim"), [(2, 1), (2, 2), (3, 1)])
def test_mixtures_against_the_sum_over_all_labellings(components, dim):
    y = 2 * np.random.default_rng(5).normal(size=(6, dim))
    expected = enumerated(y, components)
    by_labels = collapsed({"y": y}, components, particles=500, replicates=8)
    by_modes = around_modes({"y": y}, components, starts=20, draws=20_000)
    for truth in (by_labels, by_modes):
        assert truth.log_evidence == pytest.approx(expected, abs=0.01 + 4 * truth.error)
    assert by_labels.error < 0.01


def test_em_ends_at_modes():
    y = np.concatenate([GENERATOR.normal(size=(40, 1)) - 4, GENERATOR.normal(size=(40, 1)) + 4])
    (mode,) = find_modes(y, 2, 10)
    log_weights, log_variances, means = split(mode.centre[None], 2, 1)
    assert np.abs(means[0, :, 0]) == pytest.approx([4.0, 4.0], abs=0.6)
    assert join(log_weights, log_variances, means)[0] == pytest.approx(mode.centre)
    assert np.all(np.linalg.eigvalsh(mode.covariance) > 0)


def test_logistic_regression_by_two_methods():
    x = np.column_stack([np.ones(20), GENERATOR.normal(size=20)])
    rows = {"x": x, "y": (GENERATOR.random(20) < 0.5).astype(float)}
    first, second = logistic(rows), logistic_tempered(rows)
    assert first.log_evidence == pytest.approx(second.log_evidence, abs=4 * (first.error + second.error))


def test_of_two_methods_the_better_one_is_kept_if_they_agree():
    exact, near, far = Truth(-5.0, 0.001, "a"), Truth(-5.03, 0.02, "b"), Truth(-6.0, 0.02, "c")
    assert settle(near, exact)[:3] == exact[:3]
    assert settle(near, exact).is_sound
    assert not settle(exact, far).is_sound
    assert settle(exact._replace(is_sound=False), far)[:3] == far[:3]


def test_every_problem_has_a_sound_truth_at_its_end():
    known = load()
    missing = [name for name in suite() if not any(truth.is_sound for truth in known.get(name, {}).values())]
    assert missing == []


@pytest.mark.parametrize("name", suite())
def test_truths_are_of_the_rows_that_are_made_here(name):
    assert not stale(suite()[name], load()[name])


def test_a_truth_of_other_rows_is_told():
    rows = {"y": np.arange(10.0)}
    truth = Truth(0.0, 0.0, "by hand", rows_sum=45.0)
    assert truth.is_of(rows)
    assert not truth.is_of({"y": np.arange(11.0)})
