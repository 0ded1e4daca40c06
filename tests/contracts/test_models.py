"""Every ready model runs the same suite, and against its twin written as a NumPyro program."""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import pytest

import sgais
from sgais import simulate
from sgais.fields import check_chunk
from sgais.models import AutoRegression, GaussianMixture, LinearRegression, LogisticRegression


def linear_program(x, y):
    weights = numpyro.sample("weights", dist.Normal(0, 1).expand([x.shape[1]]).to_event(1))
    bias = numpyro.sample("bias", dist.Normal(0, 1))
    with numpyro.plate("data", x.shape[0]):
        numpyro.sample("obs", dist.Normal(x @ weights + bias, 1.0), obs=y)


def logistic_program(x, y):
    weights = numpyro.sample("weights", dist.Normal(0, 1).expand([4, x.shape[1]]).to_event(2))
    bias = numpyro.sample("bias", dist.Normal(0, 1).expand([4]).to_event(1))
    with numpyro.plate("data", x.shape[0]):
        numpyro.sample("obs", dist.Categorical(logits=x @ weights.T + bias), obs=y)


def mixture_program(y):
    weights = numpyro.sample("weights", dist.Dirichlet(jnp.ones(5)))
    variances = numpyro.sample("variances", dist.InverseGamma(1.0, 1.0).expand([5, 2]).to_event(2))
    means = numpyro.sample("means", dist.Normal(0, 2 * jnp.sqrt(variances)).to_event(2))
    components = dist.Normal(means, jnp.sqrt(variances)).to_event(1)
    with numpyro.plate("data", y.shape[0]):
        numpyro.sample("obs", dist.MixtureSameFamily(dist.Categorical(probs=weights), components), obs=y)


def auto_regressive_program(x, y):
    coefficients = numpyro.sample("coefficients", dist.Normal(0, 1).expand([2]).to_event(1))
    intercept = numpyro.sample("intercept", dist.Normal(0, 1))
    with numpyro.plate("time", x.shape[0]):
        numpyro.sample("obs", dist.Normal(x @ coefficients + intercept, 1.0), obs=y)


# model, its data, its NumPyro twin, its number of free parameters (the paper's, where it says)
CASES = {
    "linear": (LinearRegression(dim=5), simulate.linear_regression, linear_program, 6),
    "logistic": (LogisticRegression(dim=10, classes=4), simulate.logistic_regression, logistic_program, 44),
    "mixture": (GaussianMixture(components=5, dim=2), simulate.gaussian_mixture, mixture_program, 24),
    "auto": (AutoRegression(order=2), simulate.auto_regression, auto_regressive_program, 3),
}


@pytest.fixture(params=sorted(CASES))
def case(request):
    model, simulation, program, dimension = CASES[request.param]
    data = check_chunk(simulation(60, seed=1).data, model.fields, np.dtype(np.float32))
    return model, data, program, dimension


def prior_draws(model, count):
    return jax.jit(model.sample_prior, static_argnums=1)(jax.random.key(1), count)


def test_dimension(case):
    model, _, _, dimension = case
    assert model.dimension == dimension


def test_constrain_and_unconstrain_are_inverse(case):
    model, _, _, _ = case
    positions = prior_draws(model, 10)
    there_and_back = jax.jit(jax.vmap(lambda position: model.unconstrain(model.constrain(position))))
    np.testing.assert_allclose(there_and_back(positions), positions, rtol=2e-3, atol=2e-3)


def test_one_number_per_row_that_ignores_the_other_rows(case):
    model, data, _, _ = case
    pointwise = jax.jit(model.log_likelihood_at)
    position = prior_draws(model, 1)[0]
    together = np.asarray(pointwise(position, data))
    assert together.shape == (60,)
    for row in (0, 17, 59):
        alone = pointwise(position, {name: values[row : row + 1] for name, values in data.items()})
        np.testing.assert_allclose(alone, together[row : row + 1], rtol=1e-4, atol=1e-4)


def test_equal_options_make_equal_models(case):
    model, _, _, _ = case
    options = {name: value for name, value in model.options.items() if value is not None}  # the others are defaults
    twin = type(model)(**options)
    assert twin == model
    assert hash(twin) == hash(model)
    assert repr(twin) == repr(model)
    first = next(iter(options))
    assert type(model)(**(options | {first: options[first] + 1})) != model


def test_the_numpyro_twin_has_the_same_densities_and_gradients(case):
    model, data, program, _ = case
    twin = sgais.from_numpyro(program, example=data)
    assert twin.dimension == model.dimension

    def densities_and_gradients(of):
        log_prior = jax.value_and_grad(of.log_prior_at)
        log_likelihood = jax.value_and_grad(lambda position: jnp.sum(of.log_likelihood_at(position, data)))
        return jax.jit(jax.vmap(lambda position: (log_prior(position), log_likelihood(position))))

    positions = prior_draws(model, 5)
    of_both = zip(densities_and_gradients(model)(positions), densities_and_gradients(twin)(positions), strict=True)
    for (expected, gradient), (found, twin_gradient) in of_both:
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-3)
        scale = np.abs(gradient).max(axis=1, keepdims=True) + 1e-3
        np.testing.assert_allclose(twin_gradient / scale, gradient / scale, atol=2e-4)


def test_the_gradient_is_the_slope(case):
    """Against central differences of the model's own density, along random directions."""
    model, data, _, _ = case

    @jax.jit
    def density(position):
        return model.log_prior_at(position) + jnp.sum(model.log_likelihood_at(position, data))

    generator = np.random.default_rng(0)
    gradient = jax.jit(jax.grad(density))
    for position in prior_draws(model, 3):
        direction = generator.normal(size=model.dimension)
        direction = jnp.asarray(direction / np.linalg.norm(direction), jnp.float32)
        step = 1e-2
        slope = (density(position + step * direction) - density(position - step * direction)) / (2 * step)
        expected = float(gradient(position) @ direction)
        # float32 leaves about 1e-7 of the density, over 2e-2; the curvature adds a little.
        noise = 3e-6 * abs(float(density(position))) / step
        assert float(slope) == pytest.approx(expected, rel=0.02, abs=max(noise, 0.05))


@pytest.mark.parametrize(
    "name",  # the others take half a minute each to compile
    [pytest.param(name, marks=() if name == "linear" else pytest.mark.slow) for name in sorted(CASES)],
)
def test_the_numpyro_twin_gives_the_same_evidence(name):
    """Two groups of independent runs; the difference of their means against its own standard error."""
    model, simulation, program, _ = CASES[name]
    data = simulation(400, seed=2).data
    config = sgais.Config.paper(num_particles=30, resampling="systematic", chunk_size=100)

    def runs(of, seeds):
        return np.array([sgais.estimate(of, data, config=config, seed=seed).log_evidence for seed in seeds])

    ready, twin = runs(model, range(6)), runs(sgais.from_numpyro(program), range(6, 12))
    error = np.sqrt((ready.var(ddof=1) + twin.var(ddof=1)) / 6)
    assert abs(ready.mean() - twin.mean()) < 4 * error


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LinearRegression(dim=0), "`dim` must be a whole number of at least 1, got 0"),
        (lambda: LinearRegression(dim=2.0), "`dim` must be a whole number"),
        (lambda: LinearRegression(dim=2, noise_scale=0.0), "`noise_scale` must be a positive number, got 0.0"),
        (lambda: LogisticRegression(dim=2, classes=1), "`classes` must be a whole number of at least 2"),
        (lambda: GaussianMixture(components=-1), "`components` must be"),
        (lambda: AutoRegression(order=0), "`order` must be"),
    ],
)
def test_impossible_options_are_refused(make, message):
    with pytest.raises(sgais.ConfigError, match=message):
        make()
