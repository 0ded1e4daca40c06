"""Laplace with importance sampling against exact evidences, quadrature and itself relabelled."""

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest
from scipy import integrate, stats

import sgais
from sgais import simulate
from sgais.estimators import laplace
from sgais.estimators.laplace import LaplaceConfig
from sgais.fields import as_arrays, check_chunk, infer_fields
from sgais.models import AutoRegression, GaussianMixture, LinearRegression, LogisticRegression
from sgais.models.base import Model
from sgais.progress import silent
from sgais.smc.weights import log_mean_with_control

QUICK = LaplaceConfig(num_starts=4)


def run(model, data, config=QUICK, seed=0, report=silent):
    arrays = as_arrays(data)
    chunk = check_chunk(arrays, model.fields or infer_fields(arrays), np.dtype(np.float32))
    return laplace.run(model, chunk, config, seed, report)


def assert_near(result, exact):
    """Within 4 standard errors and the rounding of float32."""
    assert result.is_complete, result.status
    assert abs(result.log_evidence - exact) < 4 * result.standard_error + 1e-4


@pytest.mark.parametrize("num_rows", [1, 1000, 100_000])
def test_linear_regression_is_exact(num_rows):
    model, data = LinearRegression(dim=5), simulate.linear_regression(num_rows, seed=1).data
    result = run(model, data)
    assert result.is_complete
    assert result.log_evidence == pytest.approx(model.log_evidence(data), abs=1e-3)
    assert result.standard_error < 1e-3
    assert result.diagnostics["pareto_k"] < 0.7
    assert result.diagnostics["log_evidence_laplace"] == pytest.approx(model.log_evidence(data), abs=2e-3)
    assert [record.num_starts for record in result.records] == [4]


def test_auto_regression_is_exact():
    model, data = AutoRegression(order=2), simulate.auto_regression(5000, seed=1).data
    assert run(model, data).log_evidence == pytest.approx(model.log_evidence(data), abs=1e-3)


@pytest.mark.parametrize("num_rows", [1, 200])
def test_one_gaussian_has_a_closed_form(num_rows):
    """Normal-inverse-gamma: y is Student t with 2 degrees of freedom, jointly over rows."""
    y = np.random.default_rng(2).normal(0.5, 1.3, size=(num_rows, 1)).astype(np.float32)
    shape = np.eye(num_rows) + 4.0 * np.ones((num_rows, num_rows))
    exact = stats.multivariate_t(np.zeros(num_rows), shape, df=2).logpdf(y[:, 0].astype(float))
    assert_near(run(GaussianMixture(components=1, dim=1), y), exact)


def test_logistic_regression_by_quadrature():
    """Of two classes only differences matter: slope and intercept ~ N(0, 2)."""
    data = simulate.logistic_regression(40, dim=1, classes=2, seed=3).data
    x, sign = data["x"][:, 0].astype(float), 2.0 * data["y"] - 1.0

    def density(intercept, slope):
        log_likelihood = -np.logaddexp(0, -sign * (slope * x + intercept)).sum()
        return np.exp(log_likelihood + stats.norm.logpdf([slope, intercept], scale=np.sqrt(2)).sum())

    total, _ = integrate.dblquad(density, -9, 9, -9, 9, epsabs=0, epsrel=1e-7)
    result = run(LogisticRegression(dim=1, classes=2), data)
    assert result.standard_error < 0.03
    assert_near(result, np.log(total))


def regression_with_scale(coefficient_scale, noise_scale):
    return Model(
        {"slopes": dist.Normal(0.0, coefficient_scale).expand([5]).to_event(1), "noise": dist.HalfNormal(noise_scale)},
        lambda parameters, rows: dist.Normal(rows["x"] @ parameters["slopes"], parameters["noise"]).log_prob(rows["y"]),
    )


def regression_evidence(x, y, coefficient_scale, noise_scale):
    """The coefficients integrated out in closed form, the noise by quadrature on a grid of its logarithm."""
    x, y = x.astype(np.float64), y.astype(np.float64)
    left, singular, _ = np.linalg.svd(x, full_matrices=False)
    along = left.T @ y
    rest = np.sum((y - left @ along) ** 2)
    log_noise = np.linspace(np.log(noise_scale) - 15, np.log(noise_scale) + 2, 100_001)
    noise = np.exp(log_noise)
    variances = noise[:, None] ** 2 + (coefficient_scale * singular) ** 2
    exponent = -0.5 * (len(y) * np.log(2 * np.pi) + np.sum(np.log(variances) + along**2 / variances, axis=1))
    exponent += stats.halfnorm.logpdf(noise, scale=noise_scale) + log_noise
    exponent += -(len(y) - x.shape[1]) * log_noise - 0.5 * rest / noise**2
    return exponent.max() + np.log(np.exp(exponent - exponent.max()).sum() * (log_noise[1] - log_noise[0]))


@pytest.mark.parametrize("num_rows", [200, 20_000])
def test_a_regression_in_raw_units(num_rows):
    """Sales by year, neither centred nor scaled."""
    generator = np.random.default_rng(0)
    columns = [np.ones(num_rows), generator.integers(1985, 2021, num_rows), generator.normal(50, 15, num_rows)]
    x = np.column_stack([*columns, generator.normal(size=num_rows), generator.normal(3, 1, num_rows)])
    y = x @ [-1.3e6, 950.0, 300.0, 2e4, -5e3] + 1e4 * generator.normal(size=num_rows)
    x, y = x.astype(np.float32), y.astype(np.float32)
    result = run(regression_with_scale(1e6, 1e5), {"x": x, "y": y})
    assert result.is_complete, result.status
    # Numbers of 1e6 in float32 leave a hundredth of a nat.
    assert result.log_evidence == pytest.approx(
        regression_evidence(x, y, 1e6, 1e5), abs=4 * result.standard_error + 0.01
    )


@pytest.mark.parametrize("width", [10.0, 1000.0])
def test_a_regression_with_wide_priors(width):
    generator = np.random.default_rng(1)
    x = generator.normal(size=(100, 5)).astype(np.float32)
    y = (x @ generator.normal(size=5) + generator.normal(size=100)).astype(np.float32)
    assert_near(run(regression_with_scale(width, width), {"x": x, "y": y}), regression_evidence(x, y, width, width))


def mixture_of_two(ordered):
    """Unit variances, equal weights, means N(0, 9) each; or the same with the labels ordered."""

    def log_likelihood(parameters, rows):
        means = jnp.asarray(parameters["means"])
        return jnp.logaddexp(*(dist.Normal(means[k], 1.0).log_prob(rows["y"]) for k in (0, 1))) - jnp.log(2.0)

    if not ordered:
        return Model({"means": dist.Normal(0, 3).expand([2]).to_event(1)}, log_likelihood, exchangeable=("means",))

    def from_middle(parameters, rows):
        middle, gap = parameters["middle"], parameters["gap"]
        return log_likelihood({"means": [middle - gap / 2, middle + gap / 2]}, rows)

    # Of two N(0, 9) variables the mean is N(0, 9 / 2) and the absolute difference half-normal of variance 18.
    prior = {"middle": dist.Normal(0, np.sqrt(4.5)), "gap": dist.HalfNormal(np.sqrt(18.0))}
    return Model(prior, from_middle)


@pytest.mark.parametrize("separation", [0.0, 1.5, 6.0])
def test_labels_are_counted_whether_or_not_they_overlap(separation):
    """By quadrature over both means, all labellings included."""
    generator = np.random.default_rng(4)
    y = (generator.normal(size=60) + separation * (np.arange(60) % 2 - 0.5)).astype(np.float32)
    grid = np.linspace(-8, 8, 801)
    pointwise = stats.norm.pdf(y.astype(float)[:, None], grid)
    log_likelihood = np.log(0.5 * (pointwise[:, :, None] + pointwise[:, None, :])).sum(axis=0)
    log_prior = stats.norm.logpdf(grid, scale=3.0)
    exponent = log_likelihood + log_prior[:, None] + log_prior
    exact = exponent.max() + np.log(np.exp(exponent - exponent.max()).sum() * (grid[1] - grid[0]) ** 2)
    result = run(mixture_of_two(ordered=False), y)
    assert result.standard_error < 0.05
    assert_near(result, exact)
    if separation == 6.0:  # ordered labels make a posterior that is cut off at equal means, unless they are far apart
        assert_near(run(mixture_of_two(ordered=True), y), exact)


def test_a_mixture_of_three_does_not_depend_on_the_labelling_found():
    """Well apart, one labelling holds 1/6 of the posterior; runs that find different ones must agree."""
    y = np.random.default_rng(5).normal(size=(3000, 1)) * 0.7 + np.array([-4.0, 0.0, 4.0])[np.arange(3000) % 3, None]
    model = GaussianMixture(components=3, dim=1)
    results = [run(model, y, LaplaceConfig(num_starts=8), seed=seed) for seed in range(4)]
    for result in results:
        assert_near(result, np.mean([one.log_evidence for one in results]))
        assert result.log_evidence == pytest.approx(result.diagnostics["log_evidence_laplace"], abs=0.1)
    orders = {tuple(np.argsort(result.particles["means"][0, :, 0])) for result in results}
    assert len(orders) > 1


def bimodal(share, distance, scale):
    """A prior N(0, 10^2) and a likelihood of two bumps; log Z is known."""

    def log_likelihood(parameters, rows):
        at = parameters["x"]
        bumps = [dist.Normal(place, scale).log_prob(at) for place in (-distance, distance)]
        return jnp.logaddexp(jnp.log(share) + bumps[0], jnp.log(1 - share) + bumps[1]) + 0.0 * rows["y"]

    places = stats.norm(0, np.hypot(10.0, scale)).pdf([-distance, distance])
    return Model({"x": dist.Normal(0.0, 10.0)}, log_likelihood), float(np.log(places @ [share, 1 - share]))


@pytest.mark.parametrize(("share", "scale"), [(0.5, 1.0), (0.1, 0.5), (0.9, 0.1)])
def test_two_modes_are_both_found(share, scale):
    model, exact = bimodal(share, 5.0, scale)
    result = run(model, np.zeros(1), LaplaceConfig(num_starts=16))
    assert result.diagnostics["num_modes"] == 2
    assert_near(result, exact)


def test_a_given_start_leads_to_a_mode_that_others_miss():
    """A narrow peak far out: not found by a start from the prior, and no draw from the prior lands on it."""
    model, exact = bimodal(0.99999, 30.0, 0.1)
    blind = LaplaceConfig(num_starts=1, max_rounds=1, prior_share=0.0)
    assert run(model, np.zeros(1), blind, seed=1).log_evidence < exact - 5
    told = LaplaceConfig(num_starts=1, max_rounds=1, prior_share=0.0, starts=({"x": -29.5},))
    result = run(model, np.zeros(1), told, seed=1)
    assert result.is_complete
    assert_near(result, exact)
    with pytest.raises(sgais.ConfigError, match="`starts` must name every parameter"):
        run(model, np.zeros(1), LaplaceConfig(starts=({"mean": 0.0},)))


def test_a_mode_that_one_start_missed_is_right_or_flagged():
    """A single start finds one mode; draws from the prior find the other."""
    model, exact = bimodal(0.5, 5.0, 1.0)
    result = run(model, np.zeros(1), LaplaceConfig(num_starts=1, max_rounds=1))
    assert result.diagnostics["num_modes"] == 1
    assert abs(result.log_evidence - exact) < 4 * result.standard_error
    assert "only one start found the best mode" in str(result)


def test_heavy_tails_are_right_or_flagged():
    """Cauchy prior and one row under Cauchy noise: tails like x^-4, heavier than the proposal's."""
    model = Model(
        {"x": dist.Cauchy(0.0, 1.0)}, lambda parameters, rows: dist.Cauchy(parameters["x"], 1.0).log_prob(rows["y"])
    )
    exact = stats.cauchy.logpdf(1.0, scale=2.0)
    for seed in range(3):
        assert_near(run(model, np.array([1.0]), seed=seed), exact)
    flat = Model(model.prior, lambda parameters, rows: 0.0 * parameters["x"] + 0.0 * rows["y"])
    without_prior = run(flat, np.array([1.0]), LaplaceConfig(prior_share=0.0, degrees_of_freedom=1000.0))
    assert not without_prior.is_complete
    assert "not to be trusted: Pareto k" in str(without_prior)


def test_a_constant_likelihood_gives_its_constant():
    """The posterior is the prior, Gaussian in one parameter and not in the other."""
    model = Model(
        {"a": dist.Normal(1.0, 2.0), "b": dist.Gamma(3.0, 1.0)},
        lambda parameters, rows: jnp.full(rows["y"].shape, -1.5) + 0.0 * parameters["a"],
    )
    assert_near(run(model, np.zeros(20)), -30.0)


def test_a_direction_without_data_is_left_to_the_prior():
    """Only the sum of two parameters is seen: as one parameter of twice the variance."""
    y = np.random.default_rng(6).normal(1.0, 1.0, size=500).astype(np.float32)
    model = Model(
        {"a": dist.Normal(0.0, 1.0), "b": dist.Normal(0.0, 1.0)},
        lambda parameters, rows: dist.Normal(parameters["a"] + parameters["b"], 1.0).log_prob(rows["y"]),
    )
    covariance = np.eye(500) + 2.0
    exact = stats.multivariate_normal(np.zeros(500), covariance).logpdf(y.astype(float))
    assert run(model, y).log_evidence == pytest.approx(exact, abs=1e-3)


def test_the_same_seed_gives_the_same_bits_and_another_does_not():
    model, data = LogisticRegression(dim=2, classes=2), simulate.logistic_regression(100, dim=2, classes=2).data
    first, again, other = (run(model, data, seed=seed) for seed in (1, 1, 2))
    assert first.log_evidence == again.log_evidence
    np.testing.assert_array_equal(first.particles["weights"], again.particles["weights"])
    assert first.log_evidence != other.log_evidence
    assert np.exp(first.log_weights).sum() == pytest.approx(1)


def test_the_posterior_mean_is_the_exact_one():
    model, data = LinearRegression(dim=2), simulate.linear_regression(300, dim=2, seed=1).data
    result = run(model, data)
    design = np.column_stack([data["x"], np.ones(300)]).astype(float)
    exact = np.linalg.solve(np.eye(3) + design.T @ design, design.T @ data["y"])
    mean = np.exp(result.log_weights) @ np.column_stack([result.particles["weights"], result.particles["bias"]])
    np.testing.assert_allclose(mean, exact, atol=0.01)


def interrupt_at(fraction):
    def report(progress):
        if progress.fraction >= fraction:
            raise KeyboardInterrupt

    return report


def test_ctrl_c_while_drawing_leaves_plain_laplace():
    model, data = LinearRegression(dim=2), simulate.linear_regression(100, dim=2).data
    result = run(model, data, report=interrupt_at(0.5))
    assert "BEWARE: interrupted; log Z is Laplace's approximation" in str(result)
    assert result.log_evidence == pytest.approx(model.log_evidence(data), abs=1e-3)
    assert np.isnan(result.standard_error)


def test_ctrl_c_before_a_mode_is_found_leaves_no_number():
    result = run(LinearRegression(dim=2), simulate.linear_regression(100, dim=2).data, report=interrupt_at(0.0))
    assert np.isnan(result.log_evidence)
    assert "no mode was found yet" in result.status


def test_the_time_limit_stops_a_run():
    config = LaplaceConfig(max_seconds=1e-6)
    result = run(LinearRegression(dim=2), simulate.linear_regression(100, dim=2).data, config)
    assert "stopped after 1e-06 s" in str(result)
    assert np.isnan(result.log_evidence)


def test_progress_ends_at_the_whole():
    seen = []
    run(LinearRegression(dim=2), simulate.linear_regression(100, dim=2).data, report=seen.append)
    fractions = [progress.fraction for progress in seen]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0


def test_the_control_variate_takes_out_what_is_known():
    """Weights that are twice a control of mean one have a mean of two, whatever was drawn."""
    log_controls = np.random.default_rng(0).normal(size=(500, 2))
    log_mean, error = log_mean_with_control(log_controls + np.log(2.0), log_controls)
    assert log_mean == pytest.approx(np.log(2.0), abs=1e-12)
    assert error == pytest.approx(0.0, abs=1e-12)


def test_too_many_labels_are_refused():
    with pytest.raises(sgais.SgaisError, match="at most 7 exchangeable components, got 8"):
        run(GaussianMixture(components=8), np.zeros((3, 1)))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"num_starts": 0}, "`num_starts` must be a whole number of at least 1, got 0"),
        ({"max_rounds": 1.5}, "`max_rounds` must be a whole number"),
        ({"max_newton_steps": True}, "`max_newton_steps` must be a whole number"),
        ({"num_draws": 101}, "`num_draws` must be an even number of at least 100, got 101"),
        ({"num_draws": 2000, "max_draws": 3000}, "`max_draws` must be a multiple of num_draws, 2000, got 3000"),
        ({"degrees_of_freedom": 0.0}, "`degrees_of_freedom` must be positive"),
        ({"prior_share": 1.0}, "`prior_share` must be at least 0 and below 1"),
        ({"max_seconds": 0.0}, "`max_seconds` must be None or positive"),
    ],
)
def test_impossible_values_are_refused(values, message):
    with pytest.raises(sgais.ConfigError, match=message):
        LaplaceConfig(**values)
