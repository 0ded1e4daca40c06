import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest
from scipy import stats

import sgais


def gaussian_rows(parameters, rows):
    return dist.Normal(parameters["mean"], 1.0).log_prob(rows["y"])


def test_parameters_are_laid_out_in_the_order_of_the_prior():
    model = sgais.Model(
        prior={
            "z": dist.Normal(0, 1).expand([2, 3]).to_event(2),
            "a": dist.Dirichlet(jnp.ones(4)),
            "scale": dist.HalfNormal(1.0),
        },
        log_likelihood=lambda parameters, rows: rows["y"],
    )
    assert model.dimension == 6 + 3 + 1
    assert list(model.layout) == ["z", "a", "scale"]
    parameters = model.constrain(jnp.arange(10.0) / 10)
    assert {name: value.shape for name, value in parameters.items()} == {"z": (2, 3), "a": (4,), "scale": ()}
    assert float(parameters["a"].sum()) == pytest.approx(1, abs=1e-6)
    assert float(parameters["scale"]) == pytest.approx(np.exp(0.9))


def test_the_log_jacobian_is_part_of_the_prior():
    """A Gamma variable seen from R: log density at u is that of exp(u), plus u."""
    model = sgais.Model(prior={"rate": dist.Gamma(3.0, 2.0)}, log_likelihood=lambda parameters, rows: rows["y"])
    for u in (-2.0, 0.3, 1.0):
        expected = stats.gamma(3, scale=0.5).logpdf(np.exp(u)) + u
        assert float(model.log_prior_at(jnp.array([u]))) == pytest.approx(expected, rel=1e-5)


def test_prior_draws_follow_the_prior():
    model = sgais.Model(prior={"rate": dist.Gamma(3.0, 2.0)}, log_likelihood=lambda parameters, rows: rows["y"])
    draws = jax.vmap(model.constrain)(model.sample_prior(jax.random.key(0), 5000))["rate"]
    assert stats.kstest(np.asarray(draws), stats.gamma(3, scale=0.5).cdf).pvalue > 1e-3


def test_a_prior_may_depend_on_the_parameters_above_it():
    model = sgais.Model(
        prior={"scale": dist.Uniform(1.0, 2.0), "mean": lambda above: dist.Normal(10 * above["scale"], 0.001)},
        log_likelihood=gaussian_rows,
    )
    parameters = jax.vmap(model.constrain)(model.sample_prior(jax.random.key(0), 100))
    np.testing.assert_allclose(parameters["mean"], 10 * parameters["scale"], atol=0.02)


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ({}, "at least one parameter"),
        ({"k": dist.Poisson(3.0)}, r"`prior\['k'\]` must be continuous, got Poisson. Sum the discrete"),
        ({"m": dist.ImproperUniform(dist.constraints.real, (), ())}, r"`prior\['m'\]`.*drawn from.*proper prior"),
        ({"m": dist.Delta(1.0)}, r"`prior\['m'\]` must not be a Delta"),
        ({"m": lambda above: dist.Normal(0, above["s"]), "s": dist.Gamma(1.0)}, r"asks for the parameter 's'.*Reorder"),
        ({"m": 3.0}, r"`prior\['m'\]` must be a NumPyro distribution.*got float"),
        ({"m": lambda above: 3.0}, r"`prior\['m'\]` must be a NumPyro distribution or a function"),
    ],
)
def test_impossible_priors_are_refused_at_construction(prior, message):
    with pytest.raises(sgais.ModelError, match=message):
        sgais.Model(prior=prior, log_likelihood=gaussian_rows)


def test_a_log_likelihood_must_be_a_function():
    with pytest.raises(sgais.ModelError, match="`log_likelihood` must be a function"):
        sgais.Model(prior={"mean": dist.Normal(0, 1)}, log_likelihood=3)


@pytest.mark.parametrize(
    ("log_likelihood", "message"),
    [
        (lambda p, rows: jnp.sum(gaussian_rows(p, rows)), r"one number per row, shape \(7,\).*got \(\)"),
        (lambda p, rows: gaussian_rows(p, rows)[:, None], r"got \(7, 1\)"),
        (lambda p, rows: None, r"one number per row.*got None"),
        (lambda p, rows: p["nope"], "`log_likelihood` raised KeyError.*nope"),
    ],
)
def test_a_log_likelihood_of_the_wrong_shape_is_refused(log_likelihood, message):
    model = sgais.Model(prior={"mean": dist.Normal(0, 1)}, log_likelihood=log_likelihood)
    with pytest.raises(sgais.ModelError, match=message):
        model.check_log_likelihood({"y": np.zeros(3, np.float32)})
