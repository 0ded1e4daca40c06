"""One row with a wrong unit: whatever its size, the evidence is right for the other rows, and says so."""

import numpy as np
import pytest

import sgais
from sgais.models import LinearRegression

MODEL = LinearRegression(dim=2)
CONFIG = sgais.Config(num_particles=32, num_islands=4)
DATA = sgais.simulate.linear_regression(600, dim=2).data
SIZES = [1e4, 1e8, 3e38]  # arithmetic just bears it, has no digits left, has no such number
TOLERANCE = 4.0  # standard errors


def with_absurd(size, row=250, column="y"):
    rows = {name: values.astype(np.float64) for name, values in DATA.items()}
    rows[column][row] = size
    return rows


def chunks(rows, size=200):
    return [{name: values[start : start + size] for name, values in rows.items()} for start in range(0, 600, size)]


def others(row=250, end=600):
    kept = np.arange(end) != row
    return {name: values[:end][kept] for name, values in DATA.items()}


@pytest.mark.parametrize("size", SIZES)
def test_the_evidence_is_that_of_the_other_rows(size):
    evidence = sgais.OnlineEvidence(MODEL, CONFIG)
    records = [evidence.update(chunk) for chunk in chunks(with_absurd(size))]
    assert evidence.num_rows == 599
    assert (evidence.place.position, evidence.place.num_bad_rows) == (600, 1)
    assert abs(evidence.log_evidence - MODEL.log_evidence(others())) < TOLERANCE * evidence.standard_error
    assert [record.num_bad_rows for record in records] == [0, 1, 1]
    assert records[0].warning == ""
    for record in records[1:]:
        assert "a row was left out as absurd by the predictive, the first of them row 250" in record.warning
        assert record.standard_error > 0


def test_in_the_first_chunk_the_prior_is_asked():
    evidence = sgais.OnlineEvidence(MODEL, CONFIG)
    for chunk in chunks(with_absurd(1e7, 3)):
        evidence.update(chunk)
    assert abs(evidence.log_evidence - MODEL.log_evidence(others(3))) < TOLERANCE * evidence.standard_error


def test_an_input_that_the_model_can_explain_is_data():
    """A row of 10,000,000 says that the weights sum to next to nothing, and so they do: 14 nats."""
    evidence = sgais.OnlineEvidence(MODEL, CONFIG)
    for chunk in chunks(with_absurd(1e7, 250, "x")):
        evidence.update(chunk)
    truth = MODEL.log_evidence(with_absurd(1e7, 250, "x"))
    assert evidence.num_rows == 600
    assert abs(evidence.log_evidence - truth) < TOLERANCE * evidence.standard_error


def test_an_outlier_that_arithmetic_bears_is_data():
    """A hundred standard deviations off: 5,000 nats, which count to the last digit of the error."""
    evidence = sgais.OnlineEvidence(MODEL, CONFIG)
    for chunk in chunks(with_absurd(100.0)):
        evidence.update(chunk)
    truth = MODEL.log_evidence({name: values.astype(np.float32) for name, values in with_absurd(100.0).items()})
    assert evidence.num_rows == 600
    assert evidence.warning == ""
    assert evidence.log_evidence == pytest.approx(truth, abs=0.1)


def test_raise_names_the_row_and_changes_nothing():
    evidence = sgais.OnlineEvidence(MODEL, CONFIG, on_outlier="raise")
    first, second, third = chunks(with_absurd(1e8))
    evidence.update(first)
    before = evidence.log_evidence
    with pytest.raises(sgais.DataError, match="row 50 of the chunk, row 250 of the stream, which is absurd"):
        evidence.update(second)
    assert (evidence.num_rows, evidence.log_evidence) == (200, before)
    evidence.update(third)
    with pytest.raises(sgais.ConfigError, match="`on_outlier` must be one of warn, quarantine, raise, got 'skip'"):
        sgais.OnlineEvidence(MODEL, on_outlier="skip")


def test_warn_lets_the_surprise_count_with_its_error(tmp_path):
    evidence = sgais.OnlineEvidence(MODEL, CONFIG, on_outlier="warn")
    first, second, third = chunks(with_absurd(1e6))
    evidence.update(first)
    evidence.update(second)
    evidence.save(tmp_path / "state")
    again = sgais.OnlineEvidence.load(tmp_path / "state", MODEL)
    for one in (evidence, again):
        one.update(third)
        truth = MODEL.log_evidence(with_absurd(1e6))
        assert abs(one.log_evidence - truth) < TOLERANCE * one.standard_error
        assert one.standard_error == pytest.approx(5e10, rel=0.05)
        assert "counts by -5e+11 nats, which are good to a tenth" in one.warning
    assert again.log_evidence == evidence.log_evidence
    assert again.on_outlier == "warn"


@pytest.mark.parametrize("policy", ["quarantine", "warn"])
@pytest.mark.parametrize("size", SIZES)
def test_a_model_against_itself(size, policy):
    comparison = sgais.Comparison({"one": MODEL, "other": MODEL}, CONFIG, on_outlier=policy)
    for chunk in chunks(with_absurd(size)):
        record = comparison.update(chunk)
        assert sum(comparison.probabilities.values()) == pytest.approx(1.0, abs=1e-12)
        factor, error = comparison.log_bayes_factor("one", "other")
        assert error > 0
        assert abs(factor) < TOLERANCE * error
        assert not record.is_separated
        assert all(standing.standard_error > 0 for standing in record.models.values())
    assert comparison.failures == {}
    assert all(standing.warning for standing in record.models.values())


def test_no_model_is_lost_and_the_right_one_leads():
    """Before, the row failed the right model for good, and the wrong one, which expects anything, led."""
    import jax.numpy as jnp
    import numpyro.distributions as dist

    anything = sgais.Model(
        prior={"scale": dist.HalfCauchy(10.0)},
        log_likelihood=lambda parameters, rows: (
            dist.Cauchy(0.0, 1.0 + parameters["scale"]).log_prob(rows["y"]) + 0.0 * jnp.sum(rows["x"], axis=-1)
        ),
    )
    comparison = sgais.Comparison({"right": MODEL, "anything": anything}, CONFIG)
    for chunk in chunks(with_absurd(1e12)):
        record = comparison.update(chunk)
    assert comparison.failures == {}
    assert record.leader == "right"
    assert record.is_separated
    right, other = record.models["right"].warning, record.models["anything"].warning
    assert "a row was left out as absurd by the predictive, the first of them row 250; 1 of them would speak" in right
    assert "left out as absurd by the predictive of another model" in other, "that the row falsifies one is not hidden"
    assert record.models["anything"].low < 0.5 < record.models["right"].low


def test_a_stream_counts_them_with_the_bad_rows(tmp_path):
    rows = with_absurd(1e9)
    rows["y"][[20, 590]] = np.nan
    evidence = sgais.OnlineEvidence(MODEL, CONFIG)
    evidence.run(sgais.stream(rows, 200, on_error="skip"), save_to=tmp_path / "state")
    assert (evidence.num_rows, evidence.place.num_bad_rows, evidence.place.position) == (597, 3, 600)
    again = sgais.OnlineEvidence.load(tmp_path / "state", MODEL)
    again.run(sgais.stream(rows, 200, on_error="skip"))
    assert (again.num_rows, again.place.num_bad_rows) == (597, 3)
