import jax
import jax.numpy as jnp
import numpy as np
from scipy import integrate, special, stats

from sgais.models import GaussianMixture


def reference_log_likelihood(parameters, y):
    """The mixture density as the paper writes it, in float64."""
    scales = np.sqrt(parameters["variances"])
    components = stats.norm.logpdf(y[:, None, :], parameters["means"], scales).sum(axis=2)
    return special.logsumexp(np.log(parameters["weights"]) + components, axis=1)


def test_the_matrix_product_is_the_mixture_density():
    model = GaussianMixture(components=4, dim=3)
    y = np.random.default_rng(0).normal(scale=3.0, size=(50, 3)).astype(np.float32)
    pointwise, constrain = jax.jit(model.log_likelihood_at), jax.jit(model.constrain)
    for position in jax.jit(model.sample_prior, static_argnums=1)(jax.random.key(0), 5):
        parameters = {name: np.asarray(value, float) for name, value in constrain(position).items()}
        np.testing.assert_allclose(
            pointwise(position, {"y": y}), reference_log_likelihood(parameters, y), rtol=2e-5, atol=2e-5
        )


def test_data_far_from_zero_keep_their_digits():
    model = GaussianMixture(components=2, dim=1)
    offset = 3000.0
    parameters = {
        "weights": np.array([0.3, 0.7]),
        "variances": np.array([[0.5], [0.2]]),
        "means": np.array([[offset], [offset + 1]]),
    }
    y = (offset + np.random.default_rng(0).normal(size=(200, 1))).astype(np.float32)
    found = model.log_likelihood({name: value.astype(np.float32) for name, value in parameters.items()}, {"y": y})
    np.testing.assert_allclose(found, reference_log_likelihood(parameters, y.astype(float)), atol=2e-3)


def test_one_component_in_one_dimension_is_conjugate():
    """With one component mu, sigma2 is normal-inverse-gamma: E over the prior of p(y) has a closed form."""
    model = GaussianMixture(components=1, dim=1)
    assert model.dimension == 2
    y = np.array([[0.7]], np.float32)

    @jax.jit
    def prior_predictive_densities(key):
        positions = model.sample_prior(key, 200_000)
        return jnp.exp(jax.vmap(lambda position: model.log_likelihood_at(position, {"y": y})[0])(positions))

    densities = np.asarray(prior_predictive_densities(jax.random.key(0)), float)
    # mu integrated out: y ~ N(0, 5 sigma2); sigma2 ~ InverseGamma(1, 1): Student t with 2 degrees of freedom.
    exact = stats.t(df=2, scale=np.sqrt(5.0)).pdf(0.7)
    assert abs(densities.mean() - exact) < 4 * densities.std() / np.sqrt(len(densities))


def test_the_prior_of_one_component_integrates_to_one():
    model = GaussianMixture(components=1, dim=1)

    prior = jax.jit(jax.vmap(model.log_prior_at))
    log_variances, means = np.linspace(-4, 14, 400), np.linspace(-8, 8, 400)
    scales = np.exp(log_variances / 2)
    grid = np.stack(np.broadcast_arrays(log_variances[:, None], means[None, :] * scales[:, None]), axis=-1)
    densities = np.exp(np.asarray(prior(grid.reshape(-1, 2).astype(np.float32)))).reshape(400, 400) * scales[:, None]
    total = integrate.simpson(integrate.simpson(densities, x=means, axis=1), x=log_variances)
    assert abs(total - 1) < 1e-3
