"""What an author of a model calls in a test of their own."""

import numpy as np
import numpyro.distributions as dist
import pytest

import sgais
from sgais.testing import check_model

ROWS = np.random.default_rng(0).normal(size=200)


def model(log_likelihood):
    return sgais.Model(prior={"centre": dist.Normal(0.0, 1.0)}, log_likelihood=log_likelihood)


def gaussian(parameters, rows):
    return dist.Normal(parameters["centre"], 1.0).log_prob(rows["y"])


def test_a_sound_model_passes_and_what_was_looked_at_is_told():
    found = check_model(model(gaussian), ROWS)
    assert [finding.what for finding in found] == ["shapes", "finite", "gradients", "float32", "rows", "speed"]
    assert "1 parameters in all" in found[0].detail


def test_a_ready_model_can_do_without_rows():
    assert all(finding.is_good for finding in check_model(sgais.models.LinearRegression(dim=2)))


def test_an_unsound_model_is_refused_with_what_is_wrong():
    beside = model(lambda parameters, rows: gaussian(parameters, {"y": rows["y"] - rows["y"].mean()}))
    with pytest.raises(
        sgais.ModelError, match="`model` must be sound, got .* rows: the log-likelihood of a row changes"
    ):
        check_model(beside, ROWS)


def test_what_is_no_model_is_refused():
    with pytest.raises(sgais.ConfigError, match="must be a sgais.Model"):
        check_model(gaussian, ROWS)
