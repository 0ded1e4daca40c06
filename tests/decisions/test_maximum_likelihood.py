"""The bound of the largest log-likelihood, against maxima that are known by other means."""

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest
import statsmodels.api as sm
from scipy.optimize import minimize
from scipy.stats import norm

import sgais
from sgais.checkpoint.encoding import decode, encode
from sgais.decisions.maximum_likelihood import MaximumLikelihood
from sgais.history import Memory

SLACK = 0.12  # nats by which the bound may be above the maximum: a squared decrement and rounding

GAUSSIAN = sgais.Model(
    {"mean": dist.Normal(0, 10), "scale": dist.HalfNormal(5.0)},
    lambda parameters, rows: dist.Normal(parameters["mean"], parameters["scale"]).log_prob(rows["y"]),
)


def regression(family):
    def log_likelihood(parameters, rows):
        logits = parameters["bias"] + rows["x"] @ parameters["slope"]
        return family(logits).log_prob(rows["y"])

    return sgais.Model({"bias": dist.Normal(0, 1), "slope": dist.Normal(0, 1).expand([2]).to_event(1)}, log_likelihood)


LOGISTIC = regression(lambda logits: dist.Bernoulli(logits=logits))
POISSON = regression(lambda logits: dist.Poisson(jnp.exp(logits)))


def bounds(model, data, ends):
    history, maximum = Memory(), MaximumLikelihood(model)
    found, start = [], 0
    for end in ends:
        history.append({name: values[start:end] for name, values in data.items()})
        maximum.take_in(history, end)
        found.append(maximum.upper_bound)
        start = end
    return np.array(found), maximum


def check(found, exact):
    assert (found >= exact - 1e-6 * np.abs(exact)).all()
    assert (found <= exact + SLACK).all()


def test_gaussian_of_unknown_scale():
    y = np.random.default_rng(0).normal(3.0, 2.0, 3000).astype(np.float32)
    ends = [*range(20, 400, 20), *range(400, 3001, 200)]
    found, _ = bounds(GAUSSIAN, {"y": y}, ends)
    check(found, np.array([norm.logpdf(y[:end], y[:end].mean(), y[:end].std()).sum() for end in ends]))


@pytest.mark.parametrize(("model", "family"), [(LOGISTIC, sm.families.Binomial()), (POISSON, sm.families.Poisson())])
def test_generalised_linear_models(model, family):
    generator = np.random.default_rng(1)
    x = generator.normal(size=(1500, 2)).astype(np.float32)
    mean = family.link.inverse(0.3 + x @ [0.5, -0.4])
    y = generator.binomial(1, mean) if model is LOGISTIC else generator.poisson(mean)
    ends = range(100, 1501, 100)
    found, _ = bounds(model, {"x": x, "y": y.astype(np.int32)}, ends)
    check(found, np.array([sm.GLM(y[:end], sm.add_constant(x[:end]), family).fit().llf for end in ends]))


def test_of_two_maxima_the_higher_counts():
    def log_likelihood(parameters, rows):
        return jnp.logaddexp(
            dist.Normal(parameters["mean"], 1.0).log_prob(rows["y"]) + jnp.log(0.2),
            dist.Normal(-parameters["mean"], 1.0).log_prob(rows["y"]) + jnp.log(0.8),
        )

    generator = np.random.default_rng(2)
    signs = np.where(generator.random(400) < 0.2, 1.0, -1.0)
    y = (3.0 * signs + generator.normal(size=400)).astype(np.float32)
    model = sgais.Model({"mean": dist.Normal(0, 3)}, log_likelihood)
    found, _ = bounds(model, {"y": y}, range(40, 401, 40))

    def negative(at, end):
        first, second = (norm.logpdf(y[:end], sign * at, 1) for sign in (1, -1))
        return -np.logaddexp(first + np.log(0.2), second + np.log(0.8)).sum()

    exact = [
        -min(minimize(lambda at, end=end: negative(at[0], end), [start]).fun for start in (-3.0, 3.0))
        for end in range(40, 401, 40)
    ]
    check(found, np.array(exact))


def test_without_a_maximum_there_is_no_bound():
    found, maximum = bounds(GAUSSIAN, {"y": np.array([1.0, 2.0, 3.5], np.float32)}, [1, 3])
    assert found[0] == np.inf, "a scale of zero makes one row as likely as one wants"
    assert np.isfinite(found[1])
    assert maximum.is_found


def test_rows_that_a_line_separates_are_bounded_by_certainty():
    x = np.array([[-2.0, 0.0], [-1.0, 0.5], [1.0, 0.2], [2.0, -0.3]], np.float32)
    found, _ = bounds(LOGISTIC, {"x": x, "y": np.array([0, 0, 1, 1], np.int32)}, [4])
    assert found[0] >= -1e-6


def test_directions_that_the_rows_say_nothing_about_do_no_harm():
    model = sgais.models.LogisticRegression(dim=2)  # one constant too many
    generator = np.random.default_rng(3)
    x = generator.normal(size=(600, 2)).astype(np.float32)
    y = generator.binomial(1, 1 / (1 + np.exp(-x @ [1.0, 0.5]))).astype(np.int32)
    found, _ = bounds(model, {"x": x, "y": y}, [200, 400, 600])
    exact = [sm.GLM(y[:end], sm.add_constant(x[:end]), sm.families.Binomial()).fit().llf for end in (200, 400, 600)]
    check(found, np.array(exact))


def test_restored_it_goes_on_to_the_bit():
    y = np.random.default_rng(4).normal(size=600).astype(np.float32)
    _, straight = bounds(GAUSSIAN, {"y": y}, range(50, 601, 50))
    _, half = bounds(GAUSSIAN, {"y": y}, range(50, 301, 50))
    arrays = []
    restored = MaximumLikelihood.restored(GAUSSIAN, decode(encode(half.state(), arrays), arrays, {}))
    history = Memory()
    history.append({"y": y})
    for end in range(350, 601, 50):
        restored.take_in(history, end)
    assert restored.upper_bound == straight.upper_bound
