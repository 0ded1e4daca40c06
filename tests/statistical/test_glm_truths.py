"""Log Z of regressions from formulas, against integrals that share no code with them.

Groups: given the two scales, rows are jointly normal, and a grid over the scales does the rest. Other families:
importance sampling around the mode of a density written with SciPy.
"""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logsumexp

import sgais
from benchmarks.calibration.truths_importance import importance, mode_near

pytestmark = pytest.mark.slow

GENERATOR = np.random.default_rng(6)
X = GENERATOR.normal(size=150)
Z = (X - X.mean()) / X.std()
FIRMS = GENERATOR.integers(0, 6, size=150)
GROUPED = 2 + X + np.array([-2, -1, 0, 0, 1, 3])[FIRMS] + GENERATOR.normal(size=150)
COUNTS = GENERATOR.negative_binomial(2.0, 2.0 / (2.0 + np.exp(1 + 0.5 * X)))
HEAVY = 3 * X + 2 * GENERATOR.standard_t(3, size=150)
STEPS = np.digitize(0.8 * X + GENERATOR.logistic(size=150), [-1.0, 0.5])


def normal(values, scale):
    return stats.norm.logpdf(values, 0, scale)


def student_t(points):
    """Parameters: intercept, slope, log scale, log degrees of freedom."""
    intercept, slope, log_scale, log_freedom = points.T[:, :, None]
    target, unit = (HEAVY - HEAVY.mean()) / HEAVY.std(), np.log(HEAVY.std())
    scale, freedom = np.exp(log_scale), np.exp(log_freedom)
    rows = stats.t.logpdf(target, freedom, intercept + slope * Z, scale) - unit
    prior = normal(intercept, 1) + normal(slope, 1) + stats.expon.logpdf(scale) + log_scale
    return rows.sum(axis=1) + (prior + stats.gamma.logpdf(freedom, 2, scale=10) + log_freedom)[:, 0]


def poisson(points):
    intercept, slope = points.T[:, :, None]
    rows = stats.poisson.logpmf(COUNTS, COUNTS.mean() * np.exp(intercept + slope * Z))
    return rows.sum(axis=1) + (normal(intercept, 1) + normal(slope, 1))[:, 0]


def negative_binomial(points):
    intercept, slope, log_spread = points.T[:, :, None]
    size, mean = np.exp(-2 * log_spread), COUNTS.mean() * np.exp(intercept + slope * Z)
    rows = stats.nbinom.logpmf(COUNTS, size, size / (size + mean))
    prior = normal(intercept, 1) + normal(slope, 1) + stats.halfnorm.logpdf(np.exp(log_spread)) + log_spread
    return rows.sum(axis=1) + prior[:, 0]


def ordinal(points):
    """Parameters: slope, and the probabilities of three classes from two numbers by a stick that is broken."""
    slope, first, second = points.T[:, :, None]
    lower = expit(first)
    upper = lower + (1 - lower) * expit(second)
    cuts = np.stack([np.log(lower / (1 - lower)), np.log(upper / (1 - upper))])
    below = expit(cuts[:, :, :] - slope * Z)
    probabilities = np.stack([below[0], below[1] - below[0], 1 - below[1]])
    rows = np.log(np.take_along_axis(probabilities, np.broadcast_to(STEPS, (1, *below[0].shape)), axis=0)[0])
    # The density of a flat Dirichlet of three is 2; the slopes of the two steps of the stick follow.
    jacobian = np.log(lower * (1 - lower)) + np.log(expit(second) * (1 - expit(second)) * (1 - lower))
    return rows.sum(axis=1) + (normal(slope, 2.5) + np.log(2) + jacobian)[:, 0]


CASES = {
    "student-t": (HEAVY, student_t, 4),
    "poisson": (COUNTS, poisson, 2),
    "negative-binomial": (COUNTS, negative_binomial, 3),
    "ordinal": (STEPS, ordinal, 3),
}


@pytest.mark.parametrize("family", CASES)
def test_a_family_has_the_evidence_that_importance_sampling_finds(family):
    response, log_joint, dimension = CASES[family]
    truth = importance(log_joint, [mode_near(log_joint, np.zeros(dimension))])
    assert truth.is_sound
    assert truth.error < 0.02
    found = sgais.estimate(sgais.glm("y ~ x", family=family), {"y": response, "x": X})
    assert abs(found.log_evidence - truth.log_evidence) < 4 * np.hypot(found.standard_error, truth.error) + 0.02


@pytest.fixture(scope="module")
def grouped_evidence():
    """On a grid over the logs of both scales; rows are jointly normal given these."""
    target, unit = (GROUPED - GROUPED.mean()) / GROUPED.std(), np.log(GROUPED.std())
    fixed = np.column_stack([np.ones(150), Z])
    groups = (FIRMS[:, None] == np.arange(6)).astype(float)
    log_scales, log_spreads = np.linspace(-2.0, 0.5, 41), np.linspace(-6, 2.5, 52)
    values = np.empty((41, 52))
    for row, scale in enumerate(np.exp(log_scales)):
        for column, spread in enumerate(np.exp(log_spreads)):
            covariance = fixed @ fixed.T + spread**2 * groups @ groups.T + scale**2 * np.eye(150)
            prior = stats.expon.logpdf(scale) + np.log(scale) + stats.halfnorm.logpdf(spread) + np.log(spread)
            factor = np.linalg.cholesky(covariance)
            misfit = np.sum(np.linalg.solve(factor, target) ** 2)
            values[row, column] = -0.5 * misfit - np.log(np.diag(factor)).sum() - 75 * np.log(2 * np.pi) + prior
    steps = (log_scales[1] - log_scales[0]) * (log_spreads[1] - log_spreads[0])
    return logsumexp(values) + np.log(steps) - 150 * unit


@pytest.mark.parametrize("form", ["centred", "non-centred"])
def test_random_intercepts_have_the_evidence_that_quadrature_finds(grouped_evidence, form):
    model = sgais.glm("y ~ x + (1 | firm)", group_form=form)
    found = sgais.estimate(model, {"y": GROUPED, "x": X, "firm": FIRMS})
    assert abs(found.log_evidence - grouped_evidence) < 4 * found.standard_error + 0.05
