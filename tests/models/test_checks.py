"""Every kind of unsound model is found out, and only there."""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

import sgais
from sgais.models.checks import findings_of, made_up_rows

ROWS = {"y": np.random.default_rng(0).normal(size=200)}


def wrong_findings(log_likelihood, rows=ROWS):
    model = sgais.Model(prior={"centre": dist.Normal(0.0, 1.0)}, log_likelihood=log_likelihood)
    return [finding.what for finding in findings_of(model, rows) if not finding.is_good]


def gaussian(parameters, rows):
    return dist.Normal(parameters["centre"], 1.0).log_prob(rows["y"])


@jax.custom_jvp
def misdifferentiated(value):
    return value


misdifferentiated.defjvp(lambda primals, tangents: (primals[0], 2.0 * tangents[0]))

UNSOUND = {
    "shapes": lambda parameters, rows: jnp.sum(gaussian(parameters, rows)),
    "finite": lambda parameters, rows: gaussian(parameters, rows) + jnp.sqrt(parameters["centre"]) * 0.0,
    "gradients": lambda parameters, rows: gaussian({"centre": misdifferentiated(parameters["centre"])}, rows),
    "float32": lambda parameters, rows: gaussian(parameters, {"y": (rows["y"] + 1e5) - 1e5}),
    "rows": lambda parameters, rows: gaussian(parameters, {"y": rows["y"] - jnp.mean(rows["y"])}),
}


def test_a_sound_model_passes():
    assert wrong_findings(gaussian) == []


@pytest.mark.parametrize("what", list(UNSOUND))
def test_an_unsound_model_is_found_out(what):
    assert what in wrong_findings(UNSOUND[what])


@pytest.mark.parametrize(
    "model",
    [
        sgais.models.LinearRegression(dim=3),
        pytest.param(sgais.models.LogisticRegression(dim=3, classes=4), marks=pytest.mark.slow),
        pytest.param(sgais.models.GaussianMixture(components=3, dim=2), marks=pytest.mark.slow),
        sgais.models.AutoRegression(order=2),
    ],
    ids=repr,
)
def test_the_ready_models_are_sound(model):
    assert all(finding.is_good for finding in findings_of(model, made_up_rows(model)))
