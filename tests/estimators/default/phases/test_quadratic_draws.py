"""Log Z by importance sampling around quadratic surrogates: against closed forms and against its own repetitions."""

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

import sgais
from sgais import simulate
from sgais.approximation.modes.newton import climb_all
from sgais.compute.random_keys import KeySequence
from sgais.estimators.default import mode_bank, policy
from sgais.estimators.default.context import UpdateContext
from sgais.estimators.default.diagnostics import UpdateDiagnostics
from sgais.estimators.default.phases import quadratic_draws, quadratic_phase
from sgais.history import Memory, RowView
from sgais.models import LinearRegression, LogisticRegression
from sgais.progress import Deadline
from sgais.smc.weights import log_mean_with_control

LINEAR = LinearRegression(dim=4)
LOGISTIC = LogisticRegression(dim=2, classes=2)


def started(model, rows, position):
    whole = RowView(Memory(), rows)
    found = quadratic_phase.start(context_of(model, whole), position[None], whole.num_rows)
    assert found is not None
    return found, whole


def context_of(model, whole, number=1):
    return UpdateContext(model, sgais.Config(), whole, KeySequence(0, number), UpdateDiagnostics())


def test_a_gaussian_posterior_is_exact():
    """Whatever the draws: the control variate takes off all that is left to chance."""
    rows = simulate.linear_regression(2000, dim=4, seed=1).data
    begun, whole = started(LINEAR, rows, np.full(5, 0.3))
    found = quadratic_phase.sampled(context_of(LINEAR, whole), begun)
    assert found is not None
    assert found.estimate.log_evidence == pytest.approx(LINEAR.log_evidence(rows), abs=1e-2)
    assert found.estimate.standard_error < 2e-2


def test_draws_are_of_the_posterior():
    rows = simulate.linear_regression(2000, dim=4, seed=1).data
    begun, whole = started(LINEAR, rows, np.full(5, 0.3))
    found = quadratic_phase.sampled(context_of(LINEAR, whole), begun)
    design = np.column_stack([rows["x"], np.ones(2000)]).astype(float)
    precision = design.T @ design + np.eye(5)
    order = np.argsort([np.abs(LINEAR.constrain(row)["bias"]) for row in np.eye(5, dtype=np.float32)])  # the bias last
    centre, spread = np.linalg.solve(precision, design.T @ rows["y"]), np.sqrt(np.diag(np.linalg.inv(precision)))
    weights = np.exp(found.log_weights - found.log_weights.max())
    mean = np.average(found.positions, axis=0, weights=weights)[order]
    assert np.abs((mean - centre) / spread).max() < 5 / np.sqrt(len(weights))
    second = np.average((found.positions[:, order] - centre) ** 2, axis=0, weights=weights)
    np.testing.assert_allclose(second, spread**2, rtol=0.5)


POISSON = sgais.Model(
    prior={"log_rate": dist.Normal(0.0, 2.0)},
    log_likelihood=lambda parameters, rows: dist.Poisson(jnp.exp(parameters["log_rate"])).log_prob(rows["y"]),
)


def test_what_lies_beyond_second_order_counts():
    """Two events in three rows: Laplace's approximation is off by more than the error, the sum over a grid agrees."""
    y = np.array([1.0, 0.0, 1.0])
    grid = np.linspace(-15.0, 10.0, 5001)
    log_density = 2 * grid - 3 * np.exp(grid) - grid**2 / 8 - 0.5 * np.log(8 * np.pi)
    exact = np.log(np.sum(np.exp(log_density)) * (grid[1] - grid[0]))
    mode = grid[np.argmax(log_density)]
    begun, whole = started(POISSON, {"y": y.astype(np.float32)}, np.array([mode]))
    found = quadratic_phase.sampled(context_of(POISSON, whole), begun).estimate
    assert abs(found.log_evidence - exact) < 4 * found.standard_error
    laplace = log_density.max() + 0.5 * np.log(2 * np.pi / (3 * np.exp(mode) + 0.25))
    assert abs(laplace - exact) > 2 * found.standard_error


def test_the_noise_of_sampled_rows_is_in_the_error(monkeypatch):
    """From an anchor far from the mode, a few of many rows: repeated estimates spread by what they say."""
    rows = simulate.logistic_regression(2048, dim=2, classes=2, seed=1).data
    posterior = mode_bank.posterior_of(LOGISTIC, rows, np.random.default_rng(0))
    (mode,) = climb_all(posterior, np.zeros((1, LOGISTIC.dimension)), 50, Deadline(None))
    lengths, directions = np.linalg.eigh(mode.gaussian.precision)
    aside = (directions / np.sqrt(lengths))[:, -2:].sum(axis=1)  # a standard deviation along each of two
    begun, whole = started(LOGISTIC, rows, mode.position + 3 * aside)
    exact = quadratic_phase.sampled(context_of(LOGISTIC, whole, 99), begun).estimate
    for name in ("ALL_ROWS", "FIRST_SAMPLE", "LARGEST_SAMPLE"):
        monkeypatch.setattr(policy, name, 512)
    found = [
        quadratic_phase.sampled(context_of(LOGISTIC, whole, number), begun, most_rounds=1).estimate
        for number in range(24)
    ]
    errors = np.array([one.log_evidence for one in found]) - exact.log_evidence
    claimed = np.sqrt(np.mean([one.standard_error**2 for one in found]))
    assert 0.6 < np.sqrt(np.mean(errors**2)) / claimed < 1.5
    assert claimed > 3 * exact.standard_error, "it is the rows that matter here"


def test_anchors_that_were_left_behind_are_renewed_before_many_draws_are_made():
    """Far aside, draws are poor; at the mode a few are enough."""
    rows = simulate.logistic_regression(2048, dim=2, classes=2, seed=1).data
    posterior = mode_bank.posterior_of(LOGISTIC, rows, np.random.default_rng(0))
    (mode,) = climb_all(posterior, np.zeros((1, LOGISTIC.dimension)), 50, Deadline(None))
    lengths, directions = np.linalg.eigh(mode.gaussian.precision)
    aside = mode.position + 6 * (directions / np.sqrt(lengths))[:, -2:].sum(axis=1)
    begun, whole = started(LOGISTIC, rows, aside)
    old = begun._replace(num_rows_anchored=1024)
    first = quadratic_phase.sampled(context_of(LOGISTIC, whole), old, most_rounds=quadratic_draws.FIRST_ROUNDS)
    assert first is None or first.estimate.standard_error > policy.GOOD_DRAWS_ERROR
    renewed, found = quadratic_phase.sampled_near(context_of(LOGISTIC, whole), old, 600)
    assert len(found.positions) >= 600
    assert renewed.num_rows_anchored == 2048
    assert found.estimate.standard_error < policy.GOOD_DRAWS_ERROR
    fresh, _ = quadratic_phase.sampled_near(context_of(LOGISTIC, whole), begun, 128)
    assert fresh is begun, "an anchor of just now is as good as another"


def test_a_control_of_known_mean_takes_off_what_it_explains():
    generator = np.random.default_rng(0)
    controls = generator.normal(-0.02, 0.2, size=(64, 2))  # log-normal with mean one
    noise = generator.normal(0, 0.001, size=(64, 2))
    found, error = log_mean_with_control(np.log(3.0 * np.exp(controls)) + noise, controls)
    assert abs(found - np.log(3.0)) < 4e-4
    assert error < 4e-4
    plain, plain_error = log_mean_with_control(np.log(3.0 * np.exp(controls)) + noise, np.zeros((64, 2)))
    assert plain_error > 20 * error
    assert abs(plain - np.log(3.0)) < 4 * plain_error


def test_draws_that_do_not_cover_the_posterior_are_not_believed():
    """From Gaussians ten times too narrow: all that matters is in the weights of a few."""
    rows = simulate.linear_regression(200, dim=4, seed=1).data
    begun, whole = started(LINEAR, rows, np.zeros(5))
    right = begun.then[0].normalised
    narrow = right._replace(gaussian=right.gaussian._replace(precision=100 * right.gaussian.precision))
    assert quadratic_draws.draw(context_of(LINEAR, whole), begun.then, [right], 200) is not None
    assert quadratic_draws.draw(context_of(LINEAR, whole), begun.then, [narrow], 200) is None


def test_modes_count_by_their_evidence_whether_particles_sit_there_or_not():
    """Either sign of the slope, one of them with twice the prior's density."""

    def log_likelihood(parameters, rows):
        return dist.Normal(jnp.abs(parameters["slope"]), 1.0).log_prob(rows["y"])

    y = np.random.default_rng(0).normal(2.0, 1.0, 400)
    model = sgais.Model(prior={"slope": dist.Normal(0.5, 2.0)}, log_likelihood=log_likelihood)
    whole, mean = RowView(Memory(), {"y": y.astype(np.float32)}), y.mean()
    begun = quadratic_phase.start(context_of(model, whole), np.array([[mean], [-mean]]), 400)
    found = quadratic_phase.sampled(context_of(model, whole), begun)
    grid = np.linspace(-4.0, 4.0, 4001)
    log_density = -0.5 * 400 * (np.abs(grid) - mean) ** 2 - 0.125 * (grid - 0.5) ** 2
    log_density += -0.5 * np.sum((y - mean) ** 2) - 200 * np.log(2 * np.pi) - 0.5 * np.log(8 * np.pi)
    density = np.exp(log_density - log_density.max())
    exact = np.log(density.sum() * (grid[1] - grid[0])) + log_density.max()
    assert abs(found.estimate.log_evidence - exact) < 4 * found.estimate.standard_error
    weights = np.exp(found.log_weights - found.log_weights.max())
    share = weights[found.modes == 0].sum() / weights.sum()
    np.testing.assert_allclose(share, density[grid > 0].sum() / density.sum(), atol=0.05)
