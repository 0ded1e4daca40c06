"""Segments whose posterior one mode does not describe have an estimator of their own."""

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest
from scipy.special import logsumexp
from scipy.stats import norm

import sgais

# Both signs of the mean are as probable, and far apart once there are rows: one mode would miss a factor of two.
TWO_SIDED = sgais.Model(
    {"mean": dist.Normal(0.0, 3.0)},
    lambda parameters, rows: (
        jnp.logaddexp(
            dist.Normal(parameters["mean"], 1.0).log_prob(rows["y"]),
            dist.Normal(-parameters["mean"], 1.0).log_prob(rows["y"]),
        )
        - jnp.log(2.0)
    ),
)


def exact(y):
    """By quadrature over the mean."""
    grid = np.linspace(-15, 15, 20_001)
    logs = np.logaddexp(norm.logpdf(y[:, None], grid, 1), norm.logpdf(y[:, None], -grid, 1)) - np.log(2)
    return logsumexp(logs.sum(axis=0) + norm.logpdf(grid, 0, 3)) + np.log(grid[1] - grid[0])


def two_sided_rows(seed=0):
    generator = np.random.default_rng(seed)
    return (generator.choice([-1, 1], 60) * 4.0 + generator.normal(size=60)).astype(np.float32)


def test_a_second_mode_is_not_missed():
    y = two_sided_rows()
    points = sgais.ChangePoints(TWO_SIDED, hazard=1e-6)
    for start in (0, 30):
        points.update({"y": y[start : start + 30]})
    assert points.log_evidence == pytest.approx(exact(y), abs=4 * points.standard_error + 0.02)


@pytest.mark.slow
def test_mixtures_whose_labels_mean_nothing(tmp_path):
    generator = np.random.default_rng(1)
    y = np.concatenate([generator.normal(-3, 1, 60), generator.normal(3, 1, 60)])[:, None].astype(np.float32)
    model = sgais.models.GaussianMixture(components=2, dim=1)
    points = sgais.ChangePoints(model, hazard=1 / 60)
    for chunk in np.split(y, 4)[:3]:
        points.update(chunk)
    points.save(tmp_path / "points")
    resumed = sgais.ChangePoints.load(tmp_path / "points", model)
    for one in (points, resumed):
        one.update(y[90:])
    assert resumed.log_evidence == points.log_evidence
    assert [segment.start for segment in points.segments] == [0, 60]
