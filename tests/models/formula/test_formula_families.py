"""Each family's density in the units of the data, against SciPy; its range; what it predicts."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, softmax

import sgais

GENERATOR = np.random.default_rng(1)
X = GENERATOR.normal(3.0, 2.0, size=40)
MEASURED = 50 + 20 * GENERATOR.normal(size=40)
POSITIVE = GENERATOR.gamma(3.0, 40.0, size=40)
COUNTS = GENERATOR.poisson(6.0, size=40)
STEPS = GENERATOR.choice(["low", "middle", "high"], size=40)
LEVELS = ("low", "middle", "high")
DAYS = GENERATOR.uniform(1, 9, size=40)


def linear(parameters):
    return parameters["intercept"] + parameters["x"][0] * (X - X.mean()) / X.std()


def gaussian(p):
    mean, scale = MEASURED.mean(), MEASURED.std()
    return stats.norm(mean + scale * linear(p), scale * p["scale"]).logpdf(MEASURED)


def student(p):
    mean, scale = MEASURED.mean(), MEASURED.std()
    return stats.t(p["degrees_of_freedom"], mean + scale * linear(p), scale * p["scale"]).logpdf(MEASURED)


def gamma(p):
    shape = p["variation"] ** -2
    return stats.gamma(shape, scale=POSITIVE.mean() * np.exp(linear(p)) / shape).logpdf(POSITIVE)


def poisson(p):
    return stats.poisson(COUNTS.sum() / DAYS.sum() * DAYS * np.exp(linear(p))).logpmf(COUNTS)


def negative_binomial(p):
    size, mean = p["overdispersion"] ** -2, COUNTS.mean() * np.exp(linear(p))
    return stats.nbinom(size, size / (size + mean)).logpmf(COUNTS)


def bernoulli(p):
    return stats.bernoulli(expit(linear(p))).logpmf(COUNTS > 6)


def binomial(p):
    return stats.binom(20, expit(linear(p))).logpmf(COUNTS)


def categorical(p):
    slopes = p["x"][0][:, None] * (X - X.mean()) / X.std()
    scores = np.concatenate([np.zeros((1, 40)), p["intercept"][:, None] + slopes])
    chosen = [LEVELS.index(step) for step in STEPS]
    return np.log(softmax(scores, axis=0)[chosen, np.arange(40)])


def ordinal(p):
    below = np.cumsum(p["class_probabilities"])[:2]
    cuts = np.log(below / (1 - below))
    edges = np.concatenate([[-np.inf], cuts, [np.inf]])[:, None] - p["x"][0] * (X - X.mean()) / X.std()
    probabilities = np.diff(expit(edges), axis=0)
    return np.log(probabilities[[LEVELS.index(step) for step in STEPS], np.arange(40)])


BASE = {"intercept": 0.3, "x": [-0.7]}
CASES = {
    "gaussian": (MEASURED, {}, BASE | {"scale": 0.6}, gaussian),
    "student-t": (MEASURED, {}, BASE | {"scale": 0.6, "degrees_of_freedom": 3.5}, student),
    "gamma": (POSITIVE, {}, BASE | {"variation": 0.4}, gamma),
    "poisson": (COUNTS, {"exposure": "days"}, BASE, poisson),
    "negative-binomial": (COUNTS, {}, BASE | {"overdispersion": 0.5}, negative_binomial),
    "bernoulli": (COUNTS > 6, {}, BASE, bernoulli),
    "binomial": (COUNTS, {"trials": "n"}, BASE, binomial),
    "categorical": (STEPS, {"levels": {"y": LEVELS}}, {"intercept": [0.3, -0.2], "x": [[-0.7, 0.4]]}, categorical),
    "ordinal": (STEPS, {"levels": {"y": LEVELS}}, {"class_probabilities": [0.2, 0.5, 0.3], "x": [1.2]}, ordinal),
}


def bound(family):
    response, options, parameters, truth = CASES[family]
    rows = {"y": response, "x": X, "days": DAYS, "n": np.full(40, 20)}
    reader = sgais.glm("y ~ x", family=family, **options).reader(rows)
    as_arrays = {name: np.array(value) for name, value in parameters.items()}
    return reader, rows, as_arrays, truth


@pytest.mark.parametrize("family", CASES)
def test_the_density_is_that_of_the_data_in_their_own_units(family):
    reader, rows, parameters, truth = bound(family)
    found = reader.model.log_likelihood(
        {name: jnp.asarray(each) for name, each in parameters.items()}, reader.read(rows)
    )
    np.testing.assert_allclose(found, truth(parameters), rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("family", CASES)
def test_the_predictive_is_the_same_distribution(family):
    reader, rows, parameters, truth = bound(family)
    on_device = {name: jnp.asarray(each) for name, each in parameters.items()}
    inputs = reader.read_inputs({name: values for name, values in rows.items() if name != "y"})
    values = [LEVELS.index(step) for step in STEPS] if family in ("categorical", "ordinal") else rows["y"]
    found = reader.model.predictive(on_device, inputs).log_prob(jnp.asarray(values))
    np.testing.assert_allclose(found, truth(parameters), rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("function", ["log", "log2", "log10", "log1p", "sqrt"])
def test_a_transformed_response_has_the_density_of_the_response(function):
    """Against the distribution of the response by finite differences of its distribution function."""
    rows = {"y": POSITIVE, "x": X}
    reader = sgais.glm(f"{function}(y) ~ x").reader(rows)
    parameters = {"intercept": jnp.asarray(0.1), "x": jnp.asarray([0.3]), "scale": jnp.asarray(0.8)}
    found = np.exp(reader.model.log_likelihood(parameters, reader.read(rows)))
    transform = getattr(np, function)
    moved = transform(POSITIVE)
    centre = moved.mean() + moved.std() * (0.1 + 0.3 * (X - X.mean()) / X.std())
    step = 1e-4 * POSITIVE
    upper, lower = (stats.norm.cdf(transform(POSITIVE + sign * step), centre, 0.8 * moved.std()) for sign in (1, -1))
    np.testing.assert_allclose(found, (upper - lower) / (2 * step), rtol=1e-4)
    predictive = reader.model.predictive(parameters, reader.read_inputs({"x": X}))
    np.testing.assert_allclose(predictive.log_prob(jnp.asarray(POSITIVE)), np.log(found), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("family", "response", "message"),
    [
        ("poisson", [1.0, -2.0, 3.0], "must be a count, 0, 1, 2, ..., for family='poisson', got -2 in row 1"),
        ("negative-binomial", [1.0, 2.5, 3.0], "got 2.5 in row 1"),
        ("gamma", [1.0, 0.0, 3.0], "must be positive for family='gamma', got 0 in row 1"),
        ("bernoulli", ["a", "b", "c"], "must have two levels for family='bernoulli'"),
        ("categorical", ["a", "b", "b"], "at least three levels"),
        ("ordinal", ["low", "middle", "high"], "must have an order for family='ordinal'"),
        ("gaussian", [2.0, 2.0, 2.0], "must vary in the first rows"),
    ],
)
def test_a_response_out_of_range_is_refused(family, response, message):
    rows = {"y": response, "x": [1.0, 2.0, 4.0]}
    with pytest.raises(sgais.DataError, match=message):
        sgais.glm("y ~ x", family=family).reader(rows)


def test_more_successes_than_trials_are_refused():
    rows = {"y": [1, 4, 2], "n": [3, 3, 3], "x": [1.0, 2.0, 4.0]}
    reader = sgais.glm("y ~ x", family="binomial", trials="n").reader(rows)
    with pytest.raises(sgais.DataError, match="'y' must be at most .* got 4 of 3 in row 1"):
        reader.read(rows)
