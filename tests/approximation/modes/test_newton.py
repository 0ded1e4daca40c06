"""Newton ascents: in any units, many at a time."""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

from sgais.approximation.log_posterior import Posterior
from sgais.approximation.modes.newton import climb, climb_all
from sgais.compute.blocks import slabs
from sgais.compute.prior_draws import sample_prior
from sgais.models import GaussianMixture
from sgais.models.base import Model
from sgais.progress import Deadline, OutOfTime

FOREVER = Deadline(None)


def posterior_of(model, **columns):
    rows = {name: np.asarray(values, np.float32) for name, values in columns.items()}
    return Posterior(model, jax.device_put(slabs(rows)))


def quadratic(units):
    """Two correlated parameters, seen in given units, with their exact mode and curvature."""
    units = jnp.asarray(units)
    mixing = jnp.array([[1.0, 0.0], [0.9, 0.4]])

    def log_likelihood(parameters, rows):
        return dist.Normal(rows["x"] @ (mixing @ (parameters["a"] / units)), 1.0).log_prob(rows["y"])

    return Model({"a": dist.Normal(0.0, 10 * units).to_event(1)}, log_likelihood)


@pytest.mark.parametrize("units", [(1.0, 1.0), (1e5, 1e-4), (1e-6, 1e6)])
def test_units_do_not_matter(units):
    generator = np.random.default_rng(0)
    x = generator.normal(size=(300, 2))
    posterior = posterior_of(quadratic(units), x=x, y=x @ [1.0, 2.0] + generator.normal(size=300))
    mode = climb(posterior, np.array([-20.0, 20.0]) * units, 20, FOREVER)
    assert mode.is_converged
    design = x.astype(np.float32).astype(float) @ np.array([[1.0, 0.0], [0.9, 0.4]])
    precision = design.T @ design + 0.01 * np.eye(2)
    np.testing.assert_allclose(mode.precision * np.outer(units, units), precision, rtol=1e-4)


def test_a_batch_ends_where_single_ascents_do():
    y = np.random.default_rng(1).normal(size=(300, 1)) + np.array([-3.0, 3.0])[np.arange(300) % 2, None]
    posterior = posterior_of(GaussianMixture(components=2, dim=1), y=y)
    starts = sample_prior(posterior.model, 20, seed=0, purpose=0).astype(np.float64)
    together = climb_all(posterior, starts, 60, FOREVER)
    for start, mode in zip(starts[:4], together[:4], strict=True):
        alone = climb(posterior, start, 60, FOREVER)
        assert alone.num_steps == mode.num_steps
        np.testing.assert_array_equal(alone.position, mode.position)
    assert len(together) == 20
    assert sum(mode.is_converged for mode in together) > 15


def test_an_ascent_that_begins_nowhere_harms_no_other():
    posterior = posterior_of(quadratic((1.0, 1.0)), x=np.ones((50, 2)), y=np.ones(50))
    nowhere, good = climb_all(posterior, np.array([[np.nan, 0.0], [1.0, 1.0]]), 20, FOREVER)
    assert good.is_converged
    assert not nowhere.is_converged
    assert nowhere.log_posterior == -np.inf


def test_ascents_leave_saddles():
    """Two components at one place: not a maximum, though the gradient between them vanishes."""
    y = np.random.default_rng(2).normal(size=200) * 0.5 + np.array([-2.0, 2.0])[np.arange(200) % 2]
    model = Model(
        {"means": dist.Normal(0.0, 3.0).expand([2]).to_event(1)},
        lambda parameters, rows: jnp.logaddexp(
            *(dist.Normal(parameters["means"][k], 0.5).log_prob(rows["y"]) for k in (0, 1))
        ),
    )
    mode = climb(posterior_of(model, y=y), np.array([0.01, -0.01]), 50, FOREVER)
    assert mode.is_converged
    np.testing.assert_allclose(np.sort(mode.position), [-2.0, 2.0], atol=0.2)


def test_the_deadline_ends_ascents():
    posterior = posterior_of(quadratic((1.0, 1.0)), x=np.ones((50, 2)), y=np.ones(50))
    with pytest.raises(OutOfTime):
        climb_all(posterior, np.ones((3, 2)), 20, Deadline(1e-9))
