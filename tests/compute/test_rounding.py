"""What float32 costs is measured: against float64 by another library, and nothing of the user's settings changes."""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest
from scipy import stats

import sgais
from sgais.compute import rounding
from sgais.compute.blocks import slabs
from sgais.compute.likelihood import log_likelihoods

ROWS = 20_000
POISSON = sgais.Model(
    prior={"log_rate": dist.Normal(0.0, 2.0)},
    log_likelihood=lambda parameters, rows: dist.Poisson(jnp.exp(parameters["log_rate"])).log_prob(rows["y"]),
)
AT = np.array([0.9])


@pytest.fixture(scope="module")
def counts():
    return {"y": np.random.default_rng(0).poisson(2.5, ROWS).astype(np.float32)}


@pytest.fixture(scope="module")
def lacking(counts):
    """What the library's sum lacks of SciPy's."""
    rate = np.exp(AT.astype(np.float32).astype(np.float64))
    return stats.poisson.logpmf(counts["y"], rate).sum() - log_likelihoods(POISSON, AT[None], slabs(counts))[0]


def test_it_is_what_the_sum_lacks_of_the_one_in_float64(counts, lacking):
    assert abs(lacking) > 5e-3, "or there is nothing to be put right"
    found = rounding.lack(POISSON, AT, counts, ROWS)
    assert found.error == 0.0
    assert found.value == pytest.approx(lacking, abs=0.2 * abs(lacking))


def test_from_a_sample_it_comes_with_its_error(counts, lacking):
    sample = {"y": counts["y"][: rounding.SAMPLE]}
    found = rounding.lack(POISSON, AT, sample, ROWS)
    assert 0 < found.error < abs(lacking)
    assert abs(found.value - lacking) < 4 * found.error + 0.2 * abs(lacking)


def test_the_users_precision_is_left_alone(counts):
    before = jax.config.jax_enable_x64
    rounding.lack(POISSON, AT, counts, ROWS)
    assert jax.config.jax_enable_x64 == before
    assert jnp.ones(1).dtype == np.float32


def test_a_model_that_insists_on_float32_is_allowed_for(counts):
    def only_float32(parameters, rows):
        if rows["y"].dtype != np.float32:
            raise TypeError("float32 only")
        return POISSON.log_likelihood(parameters, rows)

    model = sgais.Model(prior=POISSON.prior, log_likelihood=only_float32)
    found = rounding.lack(model, AT, counts, ROWS)
    assert found.value == 0.0
    assert 1e-8 * ROWS < found.error < 1e-6 * ROWS
