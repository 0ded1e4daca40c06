"""`ShiftDetector(method="e-detector")`: its rate of false alarms, and what it finds."""

import numpy as np
import pytest

import sgais
from sgais.shift.e_detector import EDetector, Ranks, bets

ROWS_BETWEEN = 3_000


def shown(detector, signals, rows):
    for signal in signals:
        detector.update(float(signal) * rows, num_rows=rows)
    return detector


def skewed(generator, count, rows):
    """Mean log predictives of Gaussian rows: chi-square numbers, far from Gaussian where rows are few."""
    return -0.5 * generator.chisquare(rows, count) / rows


def test_p_values_are_uniform_whatever_the_scores_are_like():
    generator = np.random.default_rng(0)
    for scores in (generator.standard_cauchy(4000), generator.integers(3, size=4000).astype(float)):
        ranks = Ranks()
        p_values = np.array([ranks.p_value(score) for score in scores])[50:]
        counts, _ = np.histogram(p_values, 10, (0, 1))
        expected = len(p_values) / 10
        assert np.sum((counts - expected) ** 2 / expected) < 30  # chi-square of nine degrees, at 0.0005


def test_a_bet_has_an_expectation_of_one():
    places = (np.arange(10_000) + 0.5) / 10_000
    means = np.mean([bets(place) for place in places], axis=0)
    assert means[1:] == pytest.approx(1.0, abs=0.05)
    assert means[0] < 1.0, "its rare large wins are between the places"
    detector = EDetector(0)
    detector.update(0.5, 0.0, 1.0, 10, 10)
    assert detector.height == pytest.approx(10 * bets(0.5).mean())


@pytest.mark.parametrize("rows", [1, 5, 50])
def test_false_alarms_are_as_rare_as_promised_for_chunks_of_any_size(rows):
    """On streams that never change, but for two standard errors of the count."""
    num_chunks = 20_000 // rows * 3
    signals = skewed(np.random.default_rng(rows), num_chunks, rows)
    detector = shown(sgais.ShiftDetector(ROWS_BETWEEN, method="e-detector"), signals, rows)
    promised = num_chunks * rows / ROWS_BETWEEN
    assert len(detector.alarms) <= promised + 2 * np.sqrt(promised)


def test_two_changes_soon_after_each_other_are_found():
    generator = np.random.default_rng(1)
    levels = np.repeat([0.0, -0.5, -1.0], [100, 40, 40])
    signals = levels + skewed(generator, len(levels), 50)
    detector = shown(sgais.ShiftDetector(100_000, method="e-detector"), signals, 50)
    places = [alarm.location // 50 for alarm in detector.alarms]
    assert len(places) == 2
    assert abs(places[0] - 100) <= 2
    assert abs(places[1] - 140) <= 3
    assert all(alarm.size < 0 for alarm in detector.alarms)


def test_restored_it_goes_on_as_it_would():
    signals = skewed(np.random.default_rng(2), 200, 20) - np.repeat([0.0, 0.6], 100)
    straight = shown(sgais.ShiftDetector(20_000, method="e-detector"), signals, 20)
    half = shown(sgais.ShiftDetector(20_000, method="e-detector"), signals[:90], 20)
    resumed = shown(sgais.ShiftDetector.restored(half.state()), signals[90:], 20)
    assert resumed.alarms == straight.alarms != []
    assert resumed.state() == straight.state()
    assert straight.like().method == "e-detector"


def test_a_method_that_is_none_is_refused():
    with pytest.raises(sgais.ConfigError, match="`method` must be cusum or e-detector"):
        sgais.ShiftDetector(method="guess")


def test_a_comparison_keeps_the_method(tmp_path):
    models = {"one": sgais.models.LinearRegression(dim=2)}
    comparison = sgais.Comparison(models, detector=sgais.ShiftDetector(5_000, method="e-detector"))
    comparison.run(sgais.stream(sgais.simulate.linear_regression(200, dim=2).data, 100))
    comparison.save(tmp_path / "comparison")
    loaded = sgais.Comparison.load(tmp_path / "comparison", models)
    assert loaded.detectors["one"].method == "e-detector"
    loaded.add("two", sgais.models.LinearRegression(dim=2, features=(0,)))
    assert loaded.detectors["two"].method == "e-detector"
