"""Nested sampling against evidences in closed form."""

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

import sgais
from sgais import ConfigError, EstimationError, ModelError, simulate
from sgais.estimators.nested import estimator as nested
from sgais.estimators.nested.estimator import NestedConfig
from sgais.kernels.constrained_sghmc import ConstrainedSGHMC
from sgais.kernels.galilean import Galilean
from sgais.models import LinearRegression
from sgais.progress import silent

ROW = {"y": np.zeros(1, np.float32)}  # these targets have no data; the one row stands for all of it
SMALL = NestedConfig(num_live=200, num_replaced=40)


def target(log_likelihood, dimension):
    """A model whose log-likelihood of its only row is a function of x ~ N(0, I)."""
    return sgais.Model(
        prior={"x": dist.Normal(0.0, 1.0).expand([dimension]).to_event(1)},
        log_likelihood=lambda parameters, rows: log_likelihood(parameters["x"]) + 0 * rows["y"],
    )


def gaussian(dimension):
    """A Gaussian likelihood of unequal scales away from the prior's mean, and its log evidence."""
    scales, means = np.linspace(0.05, 0.3, dimension), np.linspace(-1, 1, dimension)
    model = target(lambda x: jnp.sum(dist.Normal(means, scales).log_prob(x)), dimension)
    return model, float(dist.Normal(0.0, np.sqrt(1 + scales**2)).log_prob(means).sum())


def run(model, data=ROW, config=SMALL, seed=0, report=silent):
    return nested.run(model, data, config, seed, report)


def assert_calibrated(results, exact):
    """Errors are as large as they say: their mean within 3 standard errors, none beyond 4."""
    scores = np.array([(result.log_evidence - exact) / result.standard_error for result in results])
    assert abs(scores.mean()) < 3 / np.sqrt(len(scores))
    assert np.abs(scores).max() < 4


@pytest.mark.parametrize("dimension", [2, 10])
def test_a_gaussian(dimension):
    model, exact = gaussian(dimension)
    results = [run(model, seed=seed) for seed in range(5)]
    assert_calibrated(results, exact)
    for result in results:
        assert result.is_complete
        # The error is the one that information promises, a little more for points that die together.
        classic = np.sqrt(result.diagnostics["information"] / SMALL.num_live)
        assert classic < result.error_budget["volumes"] < 1.15 * classic
        # Moves forget: what the families differ by more is the noise of their spread.
        assert result.standard_error < 1.5 * result.error_budget["volumes"]
        assert result.diagnostics["insertion_p_value"] > 1e-4


@pytest.mark.slow
def test_a_gaussian_in_thirty_dimensions():
    model, exact = gaussian(30)
    assert_calibrated([run(model, config=NestedConfig(), seed=seed) for seed in range(10)], exact)


def test_the_weighted_points_are_the_posterior():
    model, _ = gaussian(2)
    result = run(model)
    scales, means = np.array([0.05, 0.3]), np.array([-1.0, 1.0])
    variances = 1 / (1 + 1 / scales**2)
    weights = np.exp(result.log_weights)
    assert weights.sum() == pytest.approx(1)
    effective = 1 / np.sum(weights**2)
    found = weights @ result.particles["x"]
    assert (np.abs(found - means / scales**2 * variances) < 4 * np.sqrt(variances / effective)).all()


def two_modes(centres, scales, weights):
    """A likelihood of two Gaussians, and the share of the evidence of each."""
    scales = np.asarray(scales)[:, None]

    def log_likelihood(x):
        parts = dist.Normal(centres, scales).log_prob(x).sum(axis=1) + np.log(weights)
        return jnp.logaddexp(parts[0], parts[1])

    log_shares = np.asarray(dist.Normal(0.0, np.sqrt(1 + scales**2)).log_prob(centres)).sum(axis=1)
    return target(log_likelihood, 2), np.asarray(weights) * np.exp(log_shares)


def test_two_modes_of_unequal_weight():
    model, shares = two_modes(np.array([[-2.0, -1.0], [1.5, 1.0]]), [0.2, 0.2], [0.25, 0.75])
    results = [run(model, seed=seed) for seed in range(5)]
    assert_calibrated(results, np.log(shares.sum()))
    found = [np.exp(result.log_weights) @ (result.particles["x"][:, 0] > 0) for result in results]
    spread = np.std(found, ddof=1) / np.sqrt(len(found))
    assert abs(np.mean(found) - shares[1] / shares.sum()) < 4 * max(spread, 0.01)


def test_the_error_knows_of_drift_between_modes():
    """Moves do not cross from the wide mode to the narrow one, whose share of the live points is then left to chance.

    Over 60 seeds the spread of log Z was 1.56 times the volumes' errors, and 1.16 times the claimed ones.
    """
    model, shares = two_modes(np.array([[-1.5, 0.0], [1.5, 0.0]]), [0.5, 0.25], [0.2, 0.8])
    results = [run(model, seed=seed) for seed in range(30)]
    errors = np.array([result.log_evidence for result in results]) - np.log(shares.sum())
    claimed = np.sqrt(np.mean([result.standard_error**2 for result in results]))
    volumes = np.sqrt(np.mean([result.error_budget["volumes"] ** 2 for result in results]))
    spread = errors.std(ddof=1)
    assert claimed > 1.2 * volumes
    assert abs(errors.mean()) < 3 * spread / np.sqrt(len(errors))
    assert spread < (1 + 3 / np.sqrt(2 * len(errors))) * claimed


def test_too_few_live_points_have_the_error_of_their_volumes():
    result = run(gaussian(2)[0], config=NestedConfig(num_live=20, num_replaced=2))
    assert result.error_budget["families"] == 0
    assert result.standard_error == result.error_budget["volumes"] > 0


def test_a_staircase_of_plateaus():
    """Four steps of known height over known parts of the prior; almost every point ties with others."""
    edges, heights = np.array([-1.0, 0.0, 1.0]), np.array([0.0, 3.0, 5.0, 6.0])
    model = target(lambda x: heights[0] + jnp.sum(np.diff(heights) * (x[0] > edges)), 2)
    normal = np.asarray(dist.Normal().cdf(edges), float)
    exact = np.log(np.diff([0, *normal, 1]) @ np.exp(heights))
    results = [run(model, seed=seed) for seed in range(5)]
    assert all(result.is_complete for result in results)
    assert_calibrated(results, exact)


def test_a_likelihood_of_zero_on_half_the_prior():
    scale = 0.3

    def log_likelihood(x):
        return jnp.where(x[0] > 0, jnp.sum(dist.Normal(0.0, scale).log_prob(x)), -jnp.inf)

    exact = 2 * float(dist.Normal(0.0, np.sqrt(1 + scale**2)).log_prob(0.0)) + np.log(0.5)
    model = target(log_likelihood, 2)
    results = [run(model, seed=seed) for seed in range(5)]
    assert_calibrated(results, exact)
    ruled_out = np.isneginf(results[0].log_likelihoods)
    assert ruled_out.any()
    assert (results[0].particles["x"][ruled_out, 0] <= 0).all()
    assert results[0].to_anesthetic().logZ() == pytest.approx(results[0].log_evidence, abs=0.02)


def test_a_constant_likelihood_is_exact():
    result = run(target(lambda x: 1.25 + 0 * x[0], 3))
    assert result.is_complete
    assert result.log_evidence == pytest.approx(1.25, abs=1e-9)
    assert result.standard_error == pytest.approx(0, abs=1e-9)
    assert result.diagnostics["information"] == pytest.approx(0, abs=1e-9)


def test_linear_regression():
    model, data = LinearRegression(dim=5), simulate.linear_regression(1000, seed=1).data
    exact = model.log_evidence(data)
    results = [run(model, data, seed=seed) for seed in range(3)]
    assert_calibrated(results, exact)
    assert all(abs(result.log_evidence - exact) < 2 for result in results)


@pytest.mark.slow
def test_many_rows_keep_their_digits():
    """At 200,000 rows float32 tells totals apart by 0.03; the live points' last spread is a few nats."""
    model, data = LinearRegression(dim=1), simulate.linear_regression(200_000, dim=1, seed=1).data
    config = NestedConfig(num_live=100, num_replaced=20, kernel=Galilean(num_trajectories=4, num_steps=4))
    result = run(model, data, config)
    assert_calibrated([result], model.log_evidence(data))
    # Sums of blocks are multiples of 6e-5, so that a few of the last live points may tie; at 0.03 most would.
    assert len(np.unique(result.log_likelihoods[-100:])) > 80


def test_a_value_that_is_no_number_is_named_at_the_prior():
    with pytest.raises(ModelError, match="must be a number at draws from the prior, got nan"):
        run(target(lambda x: jnp.where(x[0] > 2.0, jnp.nan, 0.0), 1))
    with pytest.raises(ModelError, match="got inf"):
        run(target(lambda x: jnp.where(x[0] > 2.0, jnp.inf, 0.0), 1))


def test_data_that_the_prior_rules_out_are_an_error():
    with pytest.raises(EstimationError, match="only 0 of 4000 draws"):
        run(target(lambda x: -jnp.inf + 0 * x[0], 1), config=NestedConfig(num_live=4, num_replaced=1))


def test_moved_points_without_a_number_are_outside_and_counted():
    """NaN where the prior hardly ever is, but where moves that follow the likelihood come by."""
    model = target(lambda x: jnp.where(jnp.abs(x[0] - 5.0) < 0.5, jnp.nan, 2.0 * x[0]), 1)
    result = run(model)
    assert result.diagnostics["num_non_finite"] > 0
    assert np.isfinite(result.log_likelihoods).all()


def test_a_budget_gives_a_partial_result_that_says_so():
    model, _ = gaussian(2)
    for changes in ({"max_iterations": 5}, {"max_seconds": 1e-9}):
        result = run(model, config=NestedConfig(num_live=200, num_replaced=40, **changes))
        assert not result.is_complete
        assert f"stopped after {next(iter(changes))}" in result.status
        assert "too low" in str(result)
        assert np.isnan(result.standard_error)
        assert len(result.records) == changes.get("max_iterations", 0)
        assert np.isfinite(result.log_evidence)
        assert np.exp(result.log_weights).sum() == pytest.approx(1)


def test_an_interrupt_gives_a_partial_result_that_says_so():
    reports = []

    def report(progress):
        reports.append(progress)
        if len(reports) == 4:
            raise KeyboardInterrupt

    result = run(gaussian(2)[0], report=report)
    assert result.status.startswith("interrupted after 4 iterations")
    assert len(result.records) == 4
    assert len(result.log_likelihoods) == len(result.particles["x"]) == 200 + 4 * 40


def test_an_interrupt_before_anything_is_there(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(nested, "init", interrupt)
    result = run(gaussian(2)[0])
    assert result.status.startswith("interrupted after 0 iterations")
    assert np.isnan(result.log_evidence)
    assert result.particles["x"].shape == (0, 2)


def test_progress_rises_to_one():
    reports = []
    run(gaussian(2)[0], report=reports.append)
    fractions = [progress.fraction for progress in reports]
    assert all(0 <= fraction <= 1 for fraction in fractions)
    assert fractions[-1] > 0.9
    assert reports[-1].seconds_left >= 0


def test_the_seed_determines_everything():
    model, _ = gaussian(2)
    first, again, other = run(model, seed=3), run(model, seed=3), run(model, seed=4)
    assert first.log_evidence == again.log_evidence
    assert first.records == again.records
    np.testing.assert_array_equal(first.particles["x"], again.particles["x"])
    assert first.log_evidence != other.log_evidence


def test_anesthetic_reads_the_result():
    result = run(gaussian(2)[0])
    samples = result.to_anesthetic()
    assert [column for column in samples.columns.get_level_values(0) if column.startswith("x")] == ["x[0]", "x[1]"]
    assert len(samples) == len(result.log_likelihoods)
    # It averages X where we average log X: a difference of H / 2n.
    half_bias = result.diagnostics["information"] / (2 * SMALL.num_live)
    assert samples.logZ() == pytest.approx(result.log_evidence + half_bias, abs=0.01)
    assert samples.D_KL() == pytest.approx(result.diagnostics["information"], abs=0.05)
    np.random.seed(0)  # noqa: NPY002, anesthetic draws from the global state
    assert samples.logZ(1000).std() == pytest.approx(result.error_budget["volumes"], rel=0.1)


def test_the_papers_settings():
    config = NestedConfig.paper()
    assert (config.num_live, config.num_replaced, config.stop_fraction) == (2, 1, 0.01)
    assert config.kernel == ConstrainedSGHMC(learning_rate=1e-3, friction=0.1, num_steps=20)
    model = target(lambda x: dist.Normal(0.5, 0.5).log_prob(x[0]), 1)
    results = [run(model, config=config, seed=seed) for seed in range(20)]
    exact = float(dist.Normal(0.0, np.sqrt(1.25)).log_prob(0.5))
    found = np.array([result.log_evidence for result in results])
    assert abs(found.mean() - exact) < 4 * found.std() / np.sqrt(len(found)) + 0.2  # steps of 0.03 mix slowly


def test_moves_that_go_nowhere_are_not_taken_for_a_plateau():
    config = NestedConfig.paper(kernel=ConstrainedSGHMC(learning_rate=1e4, num_steps=1))
    result = run(gaussian(2)[0], config=config)
    assert result.status.startswith("stuck")


@pytest.mark.parametrize(
    ("name", "value"),
    [("num_live", 1), ("num_replaced", 400), ("kernel", "sghmc"), ("stop_fraction", 0.0), ("max_seconds", -1)],
)
def test_parameters_out_of_range_are_refused_by_name(name, value):
    with pytest.raises(ConfigError, match=f"`{name}` must"):
        NestedConfig(**{name: value})


def test_moves_that_are_too_short_are_reported():
    config = sgais.NestedConfig(num_live=100, num_replaced=10, kernel=sgais.Galilean(num_trajectories=1, num_steps=1))
    data = sgais.simulate.linear_regression(300, dim=8).data
    result = sgais.estimate(sgais.models.LinearRegression(dim=8), data, method="nested", config=config)
    assert result.diagnostics["insertion_p_value"] < 1e-3
    assert "not to be trusted: new points do not fall where they should" in str(result)
