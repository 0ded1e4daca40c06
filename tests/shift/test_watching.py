"""One alarm system: whoever follows the same rows in the same chunks raises the same alarms."""

import numpy as np
import pytest

import sgais
from sgais import simulate
from sgais.models import LinearRegression

MODEL = LinearRegression(dim=2)


@pytest.fixture(scope="module")
def chunks():
    """After 2,000 of 3,000 rows the noise doubles."""
    data = simulate.linear_regression(3000, dim=2, seed=2).data
    noise = np.random.default_rng(0).normal(size=3000) * (np.arange(3000) >= 2000)
    return list(sgais.stream({"x": data["x"], "y": (data["y"] + 1.7 * noise).astype(np.float32)}, 200))


def followed(chunks, **options):
    evidence = sgais.OnlineEvidence(MODEL, **options)
    for chunk in chunks:
        evidence.update(chunk)
    return evidence


@pytest.fixture(scope="module")
def watched(chunks):
    return followed(chunks, detector=sgais.ShiftDetector())


def test_the_change_is_found_by_replicates(watched, chunks):
    (alarm,) = watched.detector.alarms
    assert alarm.location == 2000
    by_hand = sgais.ShiftDetector()
    evidence = sgais.OnlineEvidence(MODEL)
    for chunk in chunks:
        expected = evidence.expected(chunk)
        by_hand.update(evidence.update(chunk), expected=expected)
    assert by_hand.state() == watched.detector.state()


def test_watching_changes_no_evidence(watched, chunks):
    assert followed(chunks).log_evidence == watched.log_evidence


def test_records_that_are_forgotten_change_no_alarm(watched, chunks):
    """A service keeps the latest records only; replicates are named by the chunk, not by how many records there are."""
    evidence = sgais.OnlineEvidence(MODEL, detector=sgais.ShiftDetector())
    for chunk in chunks:
        evidence.update(chunk)
        evidence.keep_records(2)
    assert evidence.detector.state() == watched.detector.state()


@pytest.mark.parametrize("number", [1, 11, 13])
def test_a_resumed_run_goes_on_with_its_detector(watched, chunks, tmp_path, number):
    followed(chunks[:number], detector=sgais.ShiftDetector()).save(tmp_path / "checkpoint")
    resumed = sgais.OnlineEvidence.load(tmp_path / "checkpoint", MODEL)
    for chunk in chunks[number:]:
        resumed.update(chunk)
    assert resumed.detector.state() == watched.detector.state()


def test_a_detector_may_come_late(chunks):
    """It is shown the curve so far, and judges that by history alone."""
    evidence = followed(chunks)
    evidence.watch(sgais.ShiftDetector())
    assert evidence.detector.alarms == sgais.ShiftDetector().scan(evidence.records)


def test_what_is_no_detector_is_refused():
    with pytest.raises(sgais.ConfigError, match="`detector` must be a sgais.ShiftDetector"):
        sgais.OnlineEvidence(MODEL, detector=1_000_000)
