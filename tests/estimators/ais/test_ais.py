"""Annealed importance sampling against evidences that are known."""

import functools

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest
from scipy import stats

import sgais
from sgais import simulate
from sgais.estimators.ais import estimator as ais
from sgais.models import LinearRegression

MODEL = LinearRegression(dim=5)
ONE_ROW = np.zeros(1)


def run(model, data, seed=0, **changes):
    return sgais.estimate(model, data, method="ais", config=sgais.AISConfig(**changes), seed=seed)


@functools.cache  # one model, one compilation
def gaussian_model(dimension, scale=0.1, centre=0.5):
    """Prior N(0, I), likelihood N(centre; theta, scale^2 I): log Z is a Gaussian density."""
    model = sgais.Model(
        prior={"theta": dist.Normal(0, 1).expand([dimension]).to_event(1)},
        log_likelihood=lambda p, rows: jnp.sum(dist.Normal(p["theta"], scale).log_prob(centre)) + 0 * rows["y"],
    )
    return model, dimension * stats.norm(0, np.sqrt(1 + scale**2)).logpdf(centre)


@pytest.mark.parametrize("dimension", [2, 10, 30])
def test_a_gaussian_of_known_evidence(dimension):
    model, exact = gaussian_model(dimension)
    result = run(model, ONE_ROW)
    assert abs(result.log_evidence - exact) < 3 * result.standard_error
    assert result.standard_error < 0.5


@pytest.mark.parametrize("rows", [1_000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_linear_regression_within_its_errors(rows):
    data = simulate.linear_regression(rows, seed=5).data
    exact = MODEL.log_evidence(data)
    for seed in range(5):
        result = run(MODEL, data, seed=seed)
        assert result.is_complete
        assert abs(result.log_evidence - exact) < min(2.0, 3 * result.standard_error)


def test_two_separate_modes_keep_their_weights():
    """Likelihood 0.2 N(-4) + 0.8 N(4), each of width 0.3, under a prior N(0, 5): weights as in the likelihood."""
    spread = dist.MixtureSameFamily(
        dist.Categorical(probs=jnp.array([0.2, 0.8])), dist.Normal(jnp.array([-4.0, 4.0]), 0.3)
    )
    model = sgais.Model(
        prior={"theta": dist.Normal(0, 5)}, log_likelihood=lambda p, rows: spread.log_prob(p["theta"]) + 0 * rows["y"]
    )
    exact = stats.norm(0, np.sqrt(25 + 0.09)).logpdf(4)
    result = run(model, ONE_ROW, num_particles=1000)
    assert abs(result.log_evidence - exact) < 3 * result.standard_error
    share = np.exp(result.log_weights)[result.particles["theta"] > 0].sum()
    # Modes that far apart exchange no particles late on, so the share varies like that of a few dozen draws.
    assert share == pytest.approx(0.8, abs=0.1)


def test_a_plateau_and_half_the_prior_ruled_out():
    """Likelihood 1 above zero, 0 below: log Z = log(1/2)."""
    model = sgais.Model(
        prior={"theta": dist.Normal(0, 1)},
        log_likelihood=lambda p, rows: jnp.where(p["theta"] > 0, 0.0, -jnp.inf) + 0 * rows["y"],
    )
    result = run(model, ONE_ROW, num_particles=2000)
    assert abs(result.log_evidence - np.log(0.5)) < 3 * result.standard_error


def test_a_constant_likelihood_is_exact():
    model = sgais.Model(prior={"theta": dist.Normal(0, 1)}, log_likelihood=lambda p, rows: -2.0 + 0 * rows["y"])
    result = run(model, np.zeros(3))
    assert result.log_evidence == pytest.approx(-6)
    assert result.standard_error == pytest.approx(0, abs=1e-6)


def test_a_fixed_schedule_with_metropolis_moves_is_unbiased_for_z():
    """The mean of Z / exact over runs is one, within its own standard error, even for few, coarse temperatures."""
    model, exact = gaussian_model(2)
    config = {"num_particles": 20, "resampling": None, "schedule": sgais.annealing.linear_schedule(6)}
    ratios = np.exp([run(model, ONE_ROW, seed=seed, **config).log_evidence - exact for seed in range(300)])
    assert abs(ratios.mean() - 1) < 3 * ratios.std(ddof=1) / np.sqrt(300)
    assert np.log(ratios).mean() < -0.02, "log Z itself is biased low, which shows that the test is sharp enough"


def test_the_papers_settings_are_off_as_their_hot_kernel_makes_them():
    data = simulate.linear_regression(1_000, seed=5).data
    result = sgais.estimate(MODEL, data, method="ais", config=sgais.AISConfig.paper())
    assert result.log_evidence == pytest.approx(MODEL.log_evidence(data), rel=0.03)
    assert np.isnan(result.records[-1].acceptance)
    assert 0.7 < result.records[-1].kinetic_temperature < 1.6
    assert sgais.AISConfig.paper().target_ess == 5


@pytest.mark.parametrize("scheme", [None, "multinomial", "residual", "stratified", "systematic"])
def test_every_resampling_scheme_gives_the_evidence(scheme):
    model, exact = gaussian_model(3)
    result = run(model, ONE_ROW, resampling=scheme)
    assert abs(result.log_evidence - exact) < 3.5 * result.standard_error


def test_records_lead_from_the_prior_to_the_posterior():
    data = simulate.linear_regression(500, seed=1).data
    result = run(MODEL, data)
    frame = result.to_frame()
    assert (np.diff(frame.inverse_temperature) > 0).all()
    assert frame.inverse_temperature.iloc[-1] == 1.0
    assert frame.log_evidence.iloc[-1] == result.diagnostics["log_evidence_from_prior"]
    assert (frame.ess[:-1].between(0.79 * 256, 0.81 * 256)).all()
    assert result.particles["weights"].shape == (256, 5)
    assert np.exp(result.log_weights).sum() == pytest.approx(1)


def test_data_sizes_that_are_no_multiple_of_a_block():
    for rows in (1, 513):
        data = simulate.linear_regression(rows, seed=2).data
        result = run(MODEL, data)
        assert abs(result.log_evidence - MODEL.log_evidence(data)) < 3.5 * result.standard_error


def test_same_seed_same_bits():
    data = simulate.linear_regression(100, seed=1).data
    first, again, other = (run(MODEL, data, seed=seed) for seed in (3, 3, 4))
    assert first.log_evidence == again.log_evidence != other.log_evidence


def test_a_run_out_of_time_has_no_evidence_and_says_so():
    data = simulate.linear_regression(100, seed=1).data
    result = run(MODEL, data, max_seconds=1e-9)
    assert not result.is_complete
    assert np.isnan(result.log_evidence)
    assert "BEWARE: out of time at inverse temperature 0" in str(result)


def test_ctrl_c_has_no_evidence_and_says_so():
    def interrupt(progress):
        if progress.fraction > 0.5:
            raise KeyboardInterrupt

    chunk = simulate.linear_regression(100, seed=1).data
    result = ais.run(MODEL, chunk, sgais.AISConfig(), 0, interrupt)
    assert "interrupted at inverse temperature" in result.status
    assert np.isnan(result.log_evidence)
    assert len(result.records) > 1
    assert result.particles["weights"].shape == (256, 5)


def test_progress_rises_to_the_end_and_tells_the_time_left():
    seen = []
    data = simulate.linear_regression(100, seed=1).data
    ais.run(MODEL, data, sgais.AISConfig(), 0, seen.append)
    fractions = [progress.fraction for progress in seen]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert seen[-1].seconds_left == 0.0
    assert all(progress.seconds_left >= 0 for progress in seen[1:])


def test_a_likelihood_that_is_not_a_number_is_refused():
    model = sgais.Model(
        prior={"theta": dist.Normal(0, 1)}, log_likelihood=lambda p, rows: jnp.log(p["theta"]) + 0 * rows["y"]
    )
    with pytest.raises(sgais.ModelError, match="must be a number at draws from the prior"):
        run(model, ONE_ROW)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kernel": "hmc"}, "`kernel` must be a sgais.HMC or sgais.SGHMC"),
        ({"max_seconds": 0}, "`max_seconds` must be positive"),
        ({"num_particles": 0}, "`num_particles`"),
        ({"schedule": "linear"}, "`schedule` must be None or a tuple of numbers, got 'linear'. See"),
        ({"schedule": ("half", "all")}, "`schedule` must be None or a tuple of numbers"),
        ({"schedule": [0.5, 1.0]}, "`schedule` must be None or a tuple of numbers"),
        ({"schedule": (0.5, float("nan"), 1.0)}, "`schedule` must rise from above 0 to exactly 1"),
    ],
)
def test_impossible_settings_are_refused(changes, message):
    with pytest.raises(sgais.ConfigError, match=message):
        sgais.AISConfig(**changes)


def test_a_config_of_sgais_is_refused():
    with pytest.raises(sgais.ConfigError, match="`config` must be a sgais.AISConfig"):
        sgais.estimate(MODEL, ONE_ROW, method="ais", config=sgais.Config())
