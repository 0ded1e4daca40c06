"""Mixtures with other covariances and priors: densities, units, and log Z against quadrature and other methods."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, special, stats

import sgais
from sgais.models import GaussianMixture

COVARIANCES = ("full", "spherical", "tied")


def covariances_of(covariance, parameters, components, dim):
    """As the documents say what parameters mean."""
    variances = np.asarray(parameters["variances"], float)
    if covariance == "spherical":
        return [np.eye(dim) * variance for variance in variances]
    factors = np.sqrt(variances)[..., None] * np.asarray(parameters["correlations"], float)
    found = factors @ np.swapaxes(factors, -1, -2)
    return [found] * components if covariance == "tied" else list(found)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_the_density_is_that_of_the_mixture(covariance):
    model = GaussianMixture(3, dim=2, covariance=covariance)
    y = np.random.default_rng(0).normal(scale=2.0, size=(40, 2)).astype(np.float32)
    position = np.asarray(model.sample_prior(jax.random.key(1), 1))[0]
    at = model.constrain(position)
    parts = [
        np.log(float(weight)) + stats.multivariate_normal.logpdf(y, mean, matrix)
        for weight, mean, matrix in zip(
            at["weights"], np.asarray(at["means"]), covariances_of(covariance, at, 3, 2), strict=True
        )
    ]
    found = model.log_likelihood_at(position, {"y": y})
    np.testing.assert_allclose(found, special.logsumexp(parts, axis=0), rtol=5e-5, atol=5e-5)
    np.testing.assert_allclose(model.predictive(at, {}).log_prob(y), found, rtol=1e-4, atol=1e-4)
    assert model.num_labels == 3
    guess = model.starts({"y": y}, np.random.default_rng(0))
    assert np.isfinite(np.asarray(model.unconstrain(guess))).all()


def test_units_move_and_stretch_the_prior():
    """Rows in other units under a prior in these units: the density changes by the Jacobian alone."""
    here, there = np.array([300.0, -2.0]), np.array([50.0, 0.1])
    for covariance in ("diag", "full"):
        plain = GaussianMixture(2, dim=2, covariance=covariance)
        moved = GaussianMixture(2, dim=2, covariance=covariance, centre=here, scale=there)
        at = {name: np.asarray(value) for name, value in plain.constrain(jnp.full(plain.dimension, 0.3)).items()}
        elsewhere = at | {"means": here + there * at["means"], "variances": there**2 * at["variances"]}
        y = np.random.default_rng(0).normal(size=(20, 2))
        rows, others = {"y": y.astype(np.float32)}, {"y": (here + there * y).astype(np.float32)}
        np.testing.assert_allclose(
            moved.log_likelihood(elsewhere, others), plain.log_likelihood(at, rows) - np.log(there).sum(), atol=2e-3
        )
        logs = [
            sum(float(jnp.sum(prior.log_prob(values[name]))) for name, prior in model.prior_at(values).items())
            for model, values in ((plain, at), (moved, elsewhere))
        ]
        assert logs[1] == pytest.approx(logs[0] - 2 * np.log(there).sum() - 4 * np.log(there).sum(), abs=1e-3)


def log_evidence_of_one_component(y, shape=1.0, rate=1.0, spread=2.0):
    """One full component in two dimensions: means integrated by hand, variances and the correlation on a grid."""
    count, squares, total = len(y), y.T @ y, y.sum(axis=0)
    logs_v, rho = np.linspace(-1.8, 1.8, 41), np.linspace(-0.99, 0.99, 81)
    grid = np.stack(np.meshgrid(logs_v, logs_v, rho, indexing="ij"), axis=-1).reshape(-1, 3)
    v1, v2, r = np.exp(grid[:, 0]), np.exp(grid[:, 1]), grid[:, 2]
    off = r * np.sqrt(v1 * v2)
    covariance = np.stack([np.stack([v1, off], -1), np.stack([off, v2], -1)], -2)
    precision = np.linalg.inv(covariance)
    of_mean = np.zeros_like(precision)
    of_mean[:, 0, 0], of_mean[:, 1, 1] = 1 / (spread**2 * v1), 1 / (spread**2 * v2)
    posterior = of_mean + count * precision
    pull = np.einsum("gij,j->gi", precision, total)
    fit = np.einsum("gi,gij,gj->g", pull, np.linalg.inv(posterior), pull)
    logs = -count * np.log(2 * np.pi) - 0.5 * count * np.linalg.slogdet(covariance)[1]
    logs += -0.5 * np.einsum("gij,ij->g", precision, squares) + 0.5 * fit
    logs += 0.5 * (np.linalg.slogdet(of_mean)[1] - np.linalg.slogdet(posterior)[1])
    prior = stats.invgamma(shape, scale=rate)
    logs += (
        prior.logpdf(v1) + prior.logpdf(v2) + grid[:, 0] + grid[:, 1] - np.log(2.0)
    )  # correlation uniform on (-1, 1)
    values = np.exp(logs - logs.max()).reshape(41, 41, 81)
    volume = integrate.simpson(integrate.simpson(integrate.simpson(values, rho), logs_v), logs_v)
    return float(np.log(volume) + logs.max())


ONE_CLOUD = np.random.default_rng(3).multivariate_normal([0.3, -0.5], [[1.0, 0.6], [0.6, 0.8]], size=60)


def test_log_z_of_one_full_component_is_that_of_a_grid():
    numbers = {"shape": 2.0, "rate": 0.5, "spread": 5.0}
    exact = log_evidence_of_one_component(ONE_CLOUD, **numbers)
    assert abs(exact - log_evidence_of_one_component(ONE_CLOUD)) > 0.5  # so that the numbers count
    found = sgais.estimate(GaussianMixture(1, 2, "full", prior=numbers), {"y": ONE_CLOUD}, method="laplace")
    assert abs(found.log_evidence - exact) < max(4 * found.standard_error, 0.02)


def test_a_scan_is_a_model_for_each_number_of_components():
    rows = np.random.default_rng(0).normal(loc=[10.0, 0.0], scale=[3.0, 0.5], size=(800, 2))
    models = sgais.mixtures(range(1, 4), dim=2, covariance="full", like={"y": rows})
    assert list(models) == ["K=1", "K=2", "K=3"]
    assert models["K=3"].options["components"] == 3
    np.testing.assert_allclose(models["K=1"].options["centre"], rows[:500].mean(axis=0))
    np.testing.assert_allclose(models["K=1"].options["scale"], rows[:500].std(axis=0))
    assert models["K=2"] == sgais.mixtures([2], dim=2, covariance="full", like=rows)["K=2"]
    assert repr(sgais.mixtures([2], dim=2)["K=2"]) == "GaussianMixture(components=2, dim=2)"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"covariance": "round"}, "`covariance` must be one of .*'diag', 'full', 'spherical', 'tied'"),
        ({"centre": [1.0, 2.0, 3.0]}, "`centre` must be a number, or 2 of them"),
        ({"centre": "left"}, "`centre` must be a number, or one for each dimension, got 'left'"),
        ({"scale": 0.0}, "`scale` must be positive"),
        ({"scale": [1.0, 2.0], "covariance": "spherical"}, "`scale` must be one number for spherical"),
        ({"prior": {"breadth": 2.0}}, "`prior` must have names of .*'spread'.*'breadth'"),
        ({"prior": {"spread": -1.0}}, "`spread` must be a positive number"),
    ],
)
def test_what_makes_no_sense_is_refused(options, message):
    with pytest.raises(sgais.ConfigError, match=message):
        GaussianMixture(2, dim=2, **options)
