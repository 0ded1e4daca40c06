"""Shift detectors that a comparison brings along."""

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

import sgais
from sgais import simulate
from sgais.models import LinearRegression

MODELS = {"one": LinearRegression(dim=3, features=(0,)), "all": LinearRegression(dim=3)}


def changing_rows():
    """After 2000 rows the noise doubles."""
    data = simulate.linear_regression(3000, dim=3, seed=2).data
    noise = np.random.default_rng(0).normal(size=3000) * (np.arange(3000) >= 2000)
    return {"x": data["x"], "y": (data["y"] + 1.7 * noise).astype(np.float32)}


DATA = changing_rows()
CHUNKS = list(sgais.stream(DATA, 200))


def filled(models=MODELS, chunks=CHUNKS):
    comparison = sgais.Comparison(models, detector=sgais.ShiftDetector(500_000))
    for chunk in chunks:
        comparison.update(chunk)
    return comparison


@pytest.fixture(scope="module")
def comparison():
    return filled()


def states(comparison):
    return {name: detector.state() for name, detector in comparison.detectors.items()}


def test_each_model_has_a_detector_that_sees_what_it_sees(comparison):
    assert comparison.detectors.keys() == MODELS.keys()
    assert all(one.mean_rows_between_false_alarms == 500_000 for one in comparison.detectors.values())
    alarm = comparison.detectors["all"].alarms[0]
    assert 2000 < alarm.row <= 2400
    assert alarm.location == 2000
    assert alarm.size < 0


def test_replicates_find_a_change_that_a_short_history_cannot_tell():
    """After two chunks nothing is beyond doubt, unless the model says what to expect."""
    chunks = list(sgais.stream({name: values[1400:2600] for name, values in DATA.items()}, 300))
    found = filled({"all": MODELS["all"]}, chunks)
    assert [alarm.location for alarm in found.detectors["all"].alarms] == [600]
    assert sgais.ShiftDetector(500_000).scan(found["all"].records) == []


@pytest.mark.parametrize("number", [1, 11, 13])
def test_a_resumed_comparison_goes_on_with_its_detectors(tmp_path, comparison, number):
    """Saved at the start, between a change and its alarm, and after the alarm."""
    filled(chunks=CHUNKS[:number]).save(tmp_path / "checkpoint")
    resumed = sgais.Comparison.load(tmp_path / "checkpoint", MODELS)
    for chunk in CHUNKS[number:]:
        resumed.update(chunk)
    assert states(resumed) == states(comparison)
    assert resumed.records == comparison.records


def test_a_model_that_joins_brings_a_detector_that_has_seen_everything(comparison):
    joined = filled({"one": MODELS["one"]})
    joined.add("all", MODELS["all"])
    assert states(joined) == states(comparison)
    joined.drop("one")
    assert joined.detectors.keys() == {"all"}


def test_watching_changes_no_evidence(comparison):
    unwatched = sgais.Comparison(MODELS)
    for chunk in CHUNKS:
        unwatched.update(chunk)
    assert unwatched.records == comparison.records
    assert unwatched.detectors == {}


def test_a_chunk_that_is_refused_is_not_seen_by_any_detector():
    found = filled(chunks=CHUNKS[:2])
    before = states(found)
    with pytest.raises(sgais.DataError):
        found.update({"x": np.zeros((3, 3)), "y": np.array([0.0, np.nan, 0.0])})
    with pytest.raises(sgais.ConfigError):
        found.add("other columns", LinearRegression(dim=2))
    assert states(found) == before


def test_a_model_that_fails_is_no_longer_watched(tmp_path):
    def log_likelihood(parameters, rows):
        normal = dist.Normal(parameters["mean"], 1.0).log_prob(rows["y"])
        return jnp.where(rows["y"] > 100, -jnp.inf, normal)

    def cauchy(parameters, rows):
        return dist.Cauchy(parameters["mean"]).log_prob(rows["y"])

    prior = {"mean": dist.Normal(0.0, 1.0)}
    models = {"fragile": sgais.Model(prior, log_likelihood), "sturdy": sgais.Model(prior, cauchy)}
    found = filled(models, [np.zeros(20), np.array([200.0, 200.0]), np.zeros(5)])
    assert found.detectors["fragile"].num_rows == 20
    assert found.detectors["sturdy"].num_rows == 27
    found.save(tmp_path / "checkpoint")
    loaded = sgais.Comparison.load(tmp_path / "checkpoint", models)
    assert states(loaded) == states(found)


def test_what_is_no_detector_is_refused():
    with pytest.raises(sgais.ConfigError, match="`detector` must be a sgais.ShiftDetector"):
        sgais.Comparison(MODELS, detector=1e6)
