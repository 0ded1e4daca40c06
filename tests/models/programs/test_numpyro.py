"""What `from_numpyro` takes and what it refuses by name; densities are compared in contracts/."""

import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import pytest

import sgais

ROWS = {"y": np.linspace(-1.0, 2.0, 20)}


def test_hierarchical_and_plated_parameters_are_taken():
    def program(y):
        scale = numpyro.sample("scale", dist.HalfNormal(1.0))
        with numpyro.plate("groups", 3):
            effects = numpyro.sample("effects", dist.Normal(0.0, scale))
        with numpyro.plate("data", len(y)):
            numpyro.deterministic("doubled", 2 * y)
            numpyro.sample("obs", dist.Normal(effects.sum(), 1.0), obs=y)

    model = sgais.from_numpyro(program, example=ROWS)
    assert model.dimension == 4
    assert list(model.prior) == ["scale", "effects"]


def test_without_an_example_the_first_chunk_makes_the_model():
    def program(y):
        mean = numpyro.sample("mean", dist.Normal(0, 1))
        with numpyro.plate("data", len(y)):
            numpyro.sample("obs", dist.Normal(mean, 1.0), obs=y)

    evidence = sgais.OnlineEvidence(sgais.from_numpyro(program))
    with pytest.raises(sgais.SgaisError, match="known after the first chunk"):
        _ = evidence.particles
    evidence.update(ROWS)
    assert evidence.particles["mean"].shape == (384,)


def test_two_observed_sites_in_one_plate_add_up():
    def program(y, z):
        mean = numpyro.sample("mean", dist.Normal(0, 1))
        with numpyro.plate("data", len(y)):
            numpyro.sample("a", dist.Normal(mean, 1.0), obs=y)
            numpyro.sample("b", dist.Normal(mean, 2.0), obs=z)

    rows = {"y": np.zeros(3, np.float32), "z": np.ones(3, np.float32)}
    model = sgais.from_numpyro(program, example=rows)
    found = model.log_likelihood({"mean": jnp.array(0.5)}, rows)
    np.testing.assert_allclose(found, dist.Normal(0.5, 1).log_prob(0.0) + dist.Normal(0.5, 2).log_prob(1.0), rtol=1e-6)


def regression(x, y):
    slope = numpyro.sample("slope", dist.Normal(0, 1))
    with numpyro.plate("data", len(x)):
        numpyro.sample("obs", dist.Normal(slope * x, 0.5), obs=y)


def test_it_predicts_and_knows_what_to_expect():
    """The log density of a Gaussian of scale 0.5 has mean -0.73 and variance 1/2."""
    x = np.random.default_rng(0).normal(size=600).astype(np.float32)
    rows = {"x": x, "y": (2 * x + 0.5 * np.random.default_rng(1).normal(size=600)).astype(np.float32)}
    evidence = sgais.OnlineEvidence(sgais.from_numpyro(regression))
    evidence.update({name: values[:500] for name, values in rows.items()})
    np.testing.assert_allclose(evidence.predict({"x": np.array([-1.0, 2.0])}).mean, [-2.0, 4.0], atol=0.2)
    mean, deviation = evidence.expected({name: values[500:] for name, values in rows.items()})
    exact = 100 * (-0.5 * np.log(2 * np.pi) - np.log(0.5) - 0.5)
    assert abs(mean - exact) < 4 * np.sqrt(50 / 64)
    assert abs(deviation / np.sqrt(50) - 1) < 4 / np.sqrt(2 * 64)
    with pytest.raises(sgais.ModelError, match="cannot predict from the columns"):
        evidence.predict()


def test_two_observed_sites_have_no_one_prediction():
    def program(y):
        mean = numpyro.sample("mean", dist.Normal(0, 1))
        with numpyro.plate("data", len(y)):
            numpyro.sample("a", dist.Normal(mean, 1.0), obs=y)
            numpyro.sample("b", dist.Normal(mean, 2.0), obs=y)

    assert sgais.from_numpyro(program, example=ROWS).predictive is None


def refused(program, message, rows=ROWS):
    with pytest.raises(sgais.ModelError, match=message):
        sgais.from_numpyro(program, example=rows)


def test_a_discrete_latent_of_all_rows_is_refused():
    def program(y):
        kind = numpyro.sample("kind", dist.Bernoulli(0.5))
        with numpyro.plate("data", len(y)):
            numpyro.sample("obs", dist.Normal(kind, 1.0), obs=y)

    refused(program, "latent site 'kind' is discrete .* shared by all rows.*a model for each of its values")


def test_a_discrete_latent_without_a_finite_list_of_values_is_refused():
    def program(y):
        rate = numpyro.sample("rate", dist.Exponential(1.0))
        with numpyro.plate("data", len(y)):
            count = numpyro.sample("count", dist.Poisson(rate))
            numpyro.sample("obs", dist.Normal(count, 1.0), obs=y)

    refused(program, "latent site 'count' is discrete .Poisson. without a finite list")


def test_a_float_as_an_index_is_refused_by_name():
    def program(y, group):
        with numpyro.plate("groups", 3):
            effects = numpyro.sample("effects", dist.Normal(0, 1))
        with numpyro.plate("data", len(y)):
            numpyro.sample("obs", dist.Normal(effects[group], 1.0), obs=y)

    rows = {"y": np.linspace(0.1, 1.0, 9), "group": np.arange(9) % 3}
    assert sgais.from_numpyro(program, example=rows).dimension == 3
    refused(program, r"floats in one of the columns \['group'\].*astype", rows | {"group": rows["group"].astype(float)})


def test_the_textbooks_eight_schools_are_answered_with_the_form_that_works():
    def textbook(J, sigma, y=None):  # noqa: N803
        mu, tau = numpyro.sample("mu", dist.Normal(0, 5)), numpyro.sample("tau", dist.HalfCauchy(5))
        with numpyro.plate("J", J):
            theta = numpyro.sample("theta", dist.Normal(mu, tau))
            numpyro.sample("obs", dist.Normal(theta, sigma), obs=y)

    def integrated(sigma, y=None):
        mu, tau = numpyro.sample("mu", dist.Normal(0, 5)), numpyro.sample("tau", dist.HalfCauchy(5))
        with numpyro.plate("J", sigma.shape[0]):
            numpyro.sample("obs", dist.Normal(mu, jnp.sqrt(tau**2 + sigma**2)), obs=y)

    rows = {
        "y": np.array([28.0, 8, -3, 7, -1, 1, 18, 12]),
        "sigma": np.array([15.0, 10, 16, 11, 9, 11, 10, 18]),
    }
    refused(textbook, "missing a required argument: 'J'.*read the number of rows off a column", rows)
    refused(lambda sigma, y: textbook(len(y), sigma, y), r"'theta'.*own.*jnp.sqrt\(s\*\*2 \+ t\*\*2\)", rows)
    assert sgais.from_numpyro(integrated, example=rows).dimension == 2


def test_an_improper_prior_is_refused_with_its_reason():
    def program(y):
        mean = numpyro.sample("mean", dist.ImproperUniform(dist.constraints.real, (), ()))
        with numpyro.plate("data", len(y)):
            numpyro.sample("obs", dist.Normal(mean, 1.0), obs=y)

    refused(program, "can be drawn from.*in place of ImproperUniform")


def test_a_missing_plate_is_refused():
    def program(y):
        mean = numpyro.sample("mean", dist.Normal(0, 1))
        numpyro.sample("obs", dist.Normal(mean, 1.0), obs=y)

    refused(program, "observed site 'obs' is not in a plate")


def test_two_data_plates_are_refused():
    def program(y):
        mean = numpyro.sample("mean", dist.Normal(0, 1))
        with numpyro.plate("first", len(y)):
            numpyro.sample("a", dist.Normal(mean, 1.0), obs=y)
        with numpyro.plate("second", len(y)):
            numpyro.sample("b", dist.Normal(mean, 1.0), obs=y)

    refused(program, r"two plates, \['first', 'second'\]")


def test_nested_plates_are_refused():
    def program(y):
        mean = numpyro.sample("mean", dist.Normal(0, 1))
        with numpyro.plate("parts", 2), numpyro.plate("data", len(y)):
            numpyro.sample("obs", dist.Normal(mean, 1.0), obs=jnp.stack([y, y]))

    refused(program, r"'obs' is in 2 plates, \['data', 'parts'\]")


def test_a_latent_of_each_row_is_refused():
    def program(y):
        with numpyro.plate("data", len(y)):
            own = numpyro.sample("own", dist.Normal(0, 1))
            numpyro.sample("obs", dist.Normal(own, 1.0), obs=y)

    refused(program, "latent site 'own' is in the data plate 'data'")


def test_rows_that_depend_on_each_other_are_refused():
    def program(y):
        mean = numpyro.sample("mean", dist.Normal(0, 1))
        before = jnp.concatenate([jnp.zeros(1), y[:-1]])
        with numpyro.plate("data", len(y)):
            numpyro.sample("obs", dist.Normal(mean * before, 1.0), obs=y)

    refused(program, "does not factor over rows.*lagged")


def test_a_plate_of_fixed_size_is_refused():
    def program(y):
        mean = numpyro.sample("mean", dist.Normal(0, 1))
        with numpyro.plate("data", 20):
            numpyro.sample("obs", dist.Normal(mean, 1.0), obs=jnp.resize(y, 20))

    refused(program, "plate 'data' must have one entry per row, but has 20.*x.shape")


def test_a_subsampling_plate_is_refused():
    def program(y):
        mean = numpyro.sample("mean", dist.Normal(0, 1))
        with numpyro.plate("data", len(y), subsample_size=2) as rows:
            numpyro.sample("obs", dist.Normal(mean, 1.0), obs=y[rows])

    refused(program, "plate 'data' subsamples its rows. Drop `subsample_size`")


def test_a_prior_that_reads_the_data_is_refused():
    def program(y):
        mean = numpyro.sample("mean", dist.Normal(y.mean(), 1))
        with numpyro.plate("data", len(y)):
            numpyro.sample("obs", dist.Normal(mean, 1.0), obs=y)

    refused(program, "prior of 'mean' depends on the data")


def test_several_densities_per_row_are_refused():
    def program(y):
        mean = numpyro.sample("mean", dist.Normal(0, 1))
        with numpyro.plate("data", len(y)):
            numpyro.sample("obs", dist.Normal(mean, jnp.ones((2, 1))), obs=jnp.stack([y, y]))

    refused(program, "must return one number per row")


def test_a_param_site_is_refused():
    def program(y):
        mean = numpyro.sample("mean", dist.Normal(0, 1))
        scale = numpyro.param("scale", 1.0)
        with numpyro.plate("data", len(y)):
            numpyro.sample("obs", dist.Normal(mean, scale), obs=y)

    refused(program, "'scale' is a numpyro.param")


def test_no_observed_site_or_no_latent_site_is_refused():
    def unobserved(y):
        numpyro.sample("mean", dist.Normal(0, 1))

    def fixed(y):
        with numpyro.plate("data", len(y)):
            numpyro.sample("obs", dist.Normal(0, 1.0), obs=y)

    refused(unobserved, "no observed site")
    refused(fixed, "no latent sites")


def test_columns_must_be_the_arguments():
    def program(series):
        pass

    refused(program, r"columns \['y'\] as arguments, but missing a required argument: 'series'")


def test_a_program_must_be_a_function():
    with pytest.raises(sgais.ModelError, match="`model_fn` must be a NumPyro model"):
        sgais.from_numpyro(3)


def test_a_scaled_site_is_refused():
    def program(y):
        mean = numpyro.sample("mean", dist.Normal(0, 1))
        with numpyro.plate("data", len(y)), numpyro.handlers.scale(scale=0.5):
            numpyro.sample("obs", dist.Normal(mean, 1.0), obs=y)

    refused(program, "site 'obs' is scaled")


def test_an_error_in_the_program_is_told_with_the_shapes():
    def program(y):
        mean = numpyro.sample("mean", dist.Normal(0, 1))
        with numpyro.plate("data", len(y)):
            numpyro.sample("obs", dist.Normal(mean, jnp.ones(3)), obs=y)

    refused(program, r"the NumPyro model raised \w+ on rows of shapes \{'y': \(8,\)\}")
