"""The bank of modes: what is missing in it is searched for."""

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

import sgais
from sgais.compute.random_keys import KeySequence
from sgais.estimators.default import mode_bank
from sgais.history import Memory, RowView
from sgais.models import GaussianMixture

EITHER_SIGN = sgais.Model(
    prior={"slope": dist.Normal(0.0, 3.0)},
    log_likelihood=lambda parameters, rows: dist.Normal(jnp.abs(parameters["slope"]), 1.0).log_prob(rows["y"]),
)
ONE_SIGN = sgais.Model(
    prior={"slope": dist.Normal(0.0, 3.0)},
    log_likelihood=lambda parameters, rows: dist.Normal(parameters["slope"], 1.0).log_prob(rows["y"]),
)


def rows_around(mean, num_rows):
    y = np.random.default_rng(0).normal(mean, 1.0, num_rows).astype(np.float32)
    return RowView(Memory(), {"y": y}), float(y.mean(dtype=float))


@pytest.mark.parametrize("num_rows", [500, 6000])
def test_the_mode_that_the_known_one_lacks_is_found(num_rows):
    """On all rows, also where the search began on a sample of them."""
    rows, mean = rows_around(2.0, num_rows)
    found = mode_bank.new_modes(EITHER_SIGN, np.array([[mean]]), rows, num_rows, KeySequence(0, 1))
    np.testing.assert_allclose(found, [[-mean]], atol=0.01)


def test_of_a_posterior_with_one_mode_nothing_is_new():
    rows, mean = rows_around(2.0, 500)
    assert mode_bank.new_modes(ONE_SIGN, np.array([[mean]]), rows, 500, KeySequence(0, 1)).shape == (0, 1)


def test_all_modes_known_nothing_is_new():
    rows, mean = rows_around(2.0, 500)
    assert mode_bank.new_modes(EITHER_SIGN, np.array([[mean], [-mean]]), rows, 500, KeySequence(0, 1)).shape == (0, 1)


@pytest.mark.parametrize(("nats_per_row", "is_told"), [(0.02, True), (0.06, False)])
def test_a_hopeless_mode_is_not_told_of(nats_per_row, is_told):
    """Ten nats below the known one, or thirty."""

    def log_likelihood(parameters, rows):
        penalty = jnp.where(parameters["slope"] < 0, nats_per_row, 0.0)
        return dist.Normal(jnp.abs(parameters["slope"]), 1.0).log_prob(rows["y"]) - penalty

    model = sgais.Model(prior={"slope": dist.Normal(0.0, 3.0)}, log_likelihood=log_likelihood)
    rows, mean = rows_around(2.0, 500)
    assert len(mode_bank.new_modes(model, np.array([[mean]]), rows, 500, KeySequence(0, 1))) == is_told


def test_relabelled_modes_of_a_mixture_are_one():
    """Two clusters, two components: both orders of the labels are one mode, in whichever of them it is known."""
    model = GaussianMixture(components=2, dim=1)
    y = np.concatenate([np.random.default_rng(k).normal(m, 0.5, 200) for k, m in enumerate([-3, 3])])
    rows = {"y": np.random.default_rng(0).permutation(y).astype(np.float32)[:, None]}
    posterior = mode_bank.posterior_of(model, rows, np.random.default_rng(0))
    none = np.zeros((0, model.dimension))
    found = mode_bank.look_for_modes(posterior, np.zeros((8, model.dimension)), none, 0, True)
    kept = mode_bank.worth_a_surrogate(posterior, found)
    assert len(kept) == 1
    whole = RowView(Memory(), rows)
    assert len(mode_bank.new_modes(model, kept, whole, 400, KeySequence(0, 1))) == 0
    other = mode_bank.alike(
        model,
        kept,
        model.unconstrain({name: values[::-1] for name, values in model.constrain(kept[0].astype(np.float32)).items()}),
    )
    assert np.abs(other - kept).max() > 1
    assert len(mode_bank.new_modes(model, other, whole, 400, KeySequence(0, 1))) == 0


def test_modes_that_were_known_are_climbed_from_again():
    """Without a search elsewhere, a mode on the far side is there only if it was known."""
    rows, mean = rows_around(2.0, 500)
    posterior = mode_bank.posterior_of(EITHER_SIGN, rows.between(0, 500), np.random.default_rng(0))
    positions = np.random.default_rng(0).normal(mean, 0.05, size=(64, 1))
    for known, expected in ((np.zeros((0, 1)), [mean]), (np.array([[-1.5]]), [-mean, mean])):
        found = mode_bank.look_for_modes(posterior, positions, known, 0, is_thorough=False)
        np.testing.assert_allclose(np.sort(mode_bank.positions_of(EITHER_SIGN, found)[:, 0]), expected, atol=0.01)
