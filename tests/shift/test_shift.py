"""The shift detector against streams of which the truth is known: where they change, or that they do not."""

import math
import pickle

import numpy as np
import pytest
from scipy import stats

import sgais
from sgais import checkpoint
from sgais.errors import ConfigError
from sgais.shift.baseline import Baseline
from sgais.shift.detector import WATCHES, Alarm
from sgais.shift.threshold import largest_score, run_length, siegmund, threshold_for

ROWS = 100


def record(num_rows, increment, annealing_steps=1):
    values = dict.fromkeys(sgais.EvidenceRecord._fields, 0.0)
    return sgais.EvidenceRecord(
        **{**values, "num_rows": num_rows, "increment": increment, "annealing_steps": annealing_steps, "warning": ""}
    )


def gaussian(generator, size):
    return generator.normal(size=size)


def student(generator, size):
    return generator.standard_t(5, size=size)


def learning(generator, size):
    """What a model with 25 parameters loses while it learns them, in standard deviations of a chunk."""
    return generator.normal(size=size) - 12.5 / (np.arange(size) + 0.5) / math.sqrt(ROWS)


def regression(generator, size):
    """Exact log predictives of linear regression, summed over chunks."""
    data = sgais.simulate.linear_regression(size * ROWS, dim=2, seed=int(generator.integers(2**31))).data
    ends = ROWS * np.arange(1, size + 1)
    return np.diff(sgais.models.LinearRegression(dim=2).log_evidence_curve(data, ends), prepend=0.0) / math.sqrt(ROWS)


def mixture(generator, size):
    """Log densities of a mixture of five Gaussians in the plane, skewed, less what a model loses while it learns it."""
    weights, variances = generator.dirichlet(np.ones(5)), 1.0 / generator.gamma(1.0, size=(5, 2))
    means = 2.0 * np.sqrt(variances) * generator.normal(size=(5, 2))
    labels = generator.choice(5, size=size * ROWS, p=weights)
    rows = means[labels] + np.sqrt(variances[labels]) * generator.normal(size=(size * ROWS, 2))
    parts = stats.norm.logpdf(rows[:, None], means, np.sqrt(variances)).sum(axis=-1) + np.log(weights)
    sums = np.logaddexp.reduce(parts, axis=1).reshape(size, ROWS).sum(axis=1)
    return sums / math.sqrt(ROWS) - 12.0 / (np.arange(size) + 0.5) / math.sqrt(ROWS)


def mean_distance(scores, distance, num_streams, num_chunks, seed=0):
    """Chunks per alarm on streams that do not change, over the distance asked for."""
    generator, num_alarms = np.random.default_rng(seed), 0
    for _ in range(num_streams):
        detector = sgais.ShiftDetector(distance * ROWS)
        for score in scores(generator, num_chunks):
            detector.update(score * math.sqrt(ROWS) - 3.0 * ROWS, num_rows=ROWS)
        num_alarms += len(detector.alarms)
    return num_streams * num_chunks / num_alarms / distance


def shifted(detector, change, after=50, chunks=50, seed=0):
    """Shows a detector Gaussian scores that change, in standard deviations of a chunk's score."""
    scores = np.random.default_rng(seed).normal(size=after + chunks)
    scores[after:] += change
    for score in scores:
        detector.update(-3.0 * ROWS + math.sqrt(ROWS) * score, num_rows=ROWS)
    return detector


@pytest.mark.parametrize("scores", [gaussian, student, learning, regression, mixture])
def test_false_alarms_are_as_far_apart_as_asked(scores):
    # 200 streams of 150 chunks, about 300 alarms expected: the standard error is some 6 %.
    assert 0.5 < mean_distance(scores, distance=100, num_streams=200, num_chunks=150) < 2.0


@pytest.mark.slow
@pytest.mark.parametrize("scores", [gaussian, student, learning, regression])
def test_false_alarms_are_rare_by_default(scores):
    # The default with 500 rows per chunk; about 100 alarms expected.
    assert 0.5 < mean_distance(scores, distance=2000, num_streams=20, num_chunks=10_000) < 2.0


def test_scores_of_a_stationary_stream_are_standard_gaussian_from_the_start():
    """Recursive residuals are exact: no matter how short the history, how large the chunks, how steep the learning."""
    generator, early = np.random.default_rng(1), []
    for _ in range(2000):
        baseline, rows_seen = Baseline(), 50.0
        for _ in range(6):
            rows = int(generator.integers(20, 500))
            rows_seen += rows
            signal = -3.0 - 40.0 / rows_seen + 1.3 * generator.normal() / math.sqrt(rows)
            early.append(baseline.surprise(signal, rows, rows_seen).score)
            baseline.learn(signal, rows, rows_seen)
    scores = np.array(early).reshape(-1, 6)
    assert np.all(scores[:, :3] == 0.0)
    for position in (3, 4, 5):
        assert stats.kstest(scores[:, position], "norm").pvalue > 0.001
    assert abs(np.corrcoef(scores[:, 3], scores[:, 5])[0, 1]) < 4.0 / math.sqrt(len(scores))


@pytest.mark.parametrize("reference", [0.5, 1.5])
@pytest.mark.parametrize("distance", [400.0, 1000.0])
def test_the_threshold_gives_the_run_length_it_was_asked_for(reference, distance):
    threshold = threshold_for(distance, reference)
    assert math.isclose(run_length(threshold, reference), distance, rel_tol=1e-3)
    generator, alarms, height = np.random.default_rng(2), 0, 0.0
    for score in generator.normal(size=400_000):
        height = max(0.0, height + min(score, largest_score(threshold, reference)) - reference)
        if height >= threshold:
            alarms, height = alarms + 1, 0.0
    assert abs(math.log(400_000 / alarms / distance)) < 0.05 + 4.0 / math.sqrt(alarms)  # the grid of heights is 5 % off


def test_the_run_length_is_near_siegmunds():
    for threshold in (4.0, 8.0):
        assert 0.95 < run_length(threshold, 0.5) / siegmund(threshold, 0.5) < 1.5


def test_the_shares_of_false_alarms_add_up():
    assert math.isclose(sum(watch.share for watch in WATCHES), 1.0)


@pytest.mark.parametrize("sign", [-1, 1])
def test_a_large_change_is_seen_after_two_chunks_and_found_where_it_is(sign):
    alarms = [shifted(sgais.ShiftDetector(), 10.0 * sign, seed=seed).alarms[-1] for seed in range(10)]
    assert all(50 * ROWS < alarm.row <= 52 * ROWS for alarm in alarms)
    assert np.median([abs(alarm.location - 50 * ROWS) for alarm in alarms]) <= ROWS
    assert all(alarm.signal == "surprise" for alarm in alarms)
    # Ten standard deviations of 0.1 nats per row.
    assert abs(np.median([alarm.size for alarm in alarms]) - sign) < 0.2


@pytest.mark.parametrize("sign", [-1, 1])
def test_a_small_change_is_seen_by_and_by(sign):
    alarms = [
        next(
            (alarm for alarm in shifted(sgais.ShiftDetector(), 1.5 * sign, seed=seed).alarms if alarm.row > 5000), None
        )
        for seed in range(20)
    ]
    found = [alarm for alarm in alarms if alarm]
    assert len(found) >= 16
    assert np.median([alarm.row for alarm in found]) < 65 * ROWS
    assert np.median([abs(alarm.location - 50 * ROWS) for alarm in found]) <= 2 * ROWS
    assert np.mean([alarm.size * sign > 0 for alarm in found]) > 0.9


def test_a_slow_climb_before_a_large_change_does_not_misplace_it():
    """Scores a little below expectation have raised the sum for small changes, which then is the first to cross."""
    detector = sgais.ShiftDetector()
    for score in [-0.7] * 15 + [-8.0, -2.5]:
        detector.update(score, num_rows=ROWS, expected=(0.0, 1.0))
    assert [(alarm.row, alarm.location) for alarm in detector.alarms] == [(17 * ROWS, 15 * ROWS)]


@pytest.mark.parametrize(("chunks_between", "fewest", "most"), [(20, 16, 20), (5, 0, 4)])
def test_a_second_change_is_found_where_the_first_has_been_learnt(chunks_between, fewest, most):
    """Six standard deviations each: after an alarm the new level has to be known before one can leave it."""
    found = 0
    for seed in range(20):
        scores = np.random.default_rng(seed).normal(0.0, 1.0, 160)
        scores[100:] -= 6.0
        scores[100 + chunks_between :] -= 6.0
        detector = sgais.ShiftDetector()
        for score in scores:
            detector.update(score, num_rows=ROWS)
        found += any(0 < alarm.row // ROWS - 100 - chunks_between <= 8 for alarm in detector.alarms)
    assert fewest <= found <= most


def test_rarer_false_alarms_cost_time():
    delays = [shifted(sgais.ShiftDetector(distance), 2.5).alarms[0].row for distance in (2e4, 1e6, 1e9)]
    assert delays == sorted(delays)
    assert delays[0] < delays[-1]


def test_one_odd_chunk_is_no_shift():
    for seed in range(10):
        scores = np.random.default_rng(seed).normal(size=100)
        scores[60] = -1000.0
        detector = sgais.ShiftDetector(1e8)
        for score in scores:
            assert not detector.update(-300.0 + 10.0 * score, num_rows=ROWS).drift_detected


def test_an_absurd_chunk_teaches_nothing_unless_another_follows():
    """The first chunk after a change must not make the second look ordinary."""
    baseline = Baseline(has_trend=False)
    for number, signal in enumerate(np.random.default_rng(0).normal(size=30)):
        baseline.learn(signal, 1.0, 1.0 + number)
    before = baseline.surprise(-8.0, 1.0, 31.0)
    assert before.score < -5
    baseline.learn(-30.0, 1.0, 31.0)
    assert baseline.surprise(-8.0, 1.0, 31.0) == before
    baseline.learn(-30.0, 1.0, 32.0)
    assert baseline.surprise(-8.0, 1.0, 31.0).score > before.score + 0.5


def test_chunks_may_differ_in_size():
    generator, num_alarms = np.random.default_rng(3), 0
    for _ in range(100):
        detector = sgais.ShiftDetector(100 * 275)
        for rows in generator.integers(50, 500, size=150):
            detector.update(-3.0 * rows + math.sqrt(rows) * generator.normal(), num_rows=int(rows))
        num_alarms += len(detector.alarms)
    assert 0.5 < 150 / num_alarms < 2.0


def test_a_model_that_learns_new_data_slowly_raises_no_second_alarm():
    detector = shifted(sgais.ShiftDetector(), -30.0, after=50, chunks=2)
    assert len(detector.alarms) == 1
    for chunk, noise in enumerate(np.random.default_rng(4).normal(size=80)):
        detector.update(-300.0 + 10.0 * (-30.0 + 0.3 * chunk + noise), num_rows=ROWS)
    assert len(detector.alarms) == 1


def test_a_sudden_return_is_a_shift_too():
    detector = shifted(sgais.ShiftDetector(), -30.0, after=50, chunks=30)
    for noise in np.random.default_rng(5).normal(size=10):
        detector.update(-300.0 + 10.0 * noise, num_rows=ROWS)
    assert [alarm.row for alarm in detector.alarms] == [52 * ROWS, 82 * ROWS]
    assert [alarm.size > 0 for alarm in detector.alarms] == [False, True]


def test_more_annealing_steps_are_a_signal_of_their_own():
    noise = np.random.default_rng(6).normal(size=60)
    records = [record(500 * (n + 1), -1500.0 + 22.0 * noise[n], 1 if n < 50 else 60) for n in range(60)]
    (alarm,) = sgais.ShiftDetector().scan(records)
    assert alarm.signal == "annealing_steps"
    assert alarm.location == 25_000
    assert alarm.row == 26_000
    assert math.isclose(alarm.size, math.log(61 / 2), rel_tol=0.1)


def test_annealing_steps_that_come_and_go_are_no_shift():
    generator = np.random.default_rng(7)
    steps = generator.integers(0, 3, size=400)
    records = [record(500 * (n + 1), -1500.0 + 22.0 * generator.normal(), int(steps[n])) for n in range(400)]
    assert sgais.ShiftDetector().scan(records) == []


def test_what_the_caller_expects_is_used_from_the_first_chunk_on():
    ordinary, odd = sgais.ShiftDetector(), sgais.ShiftDetector()
    for chunk in range(4):
        ordinary.update(-1500.0 + 20.0 * (-1) ** chunk, num_rows=500, expected=(-1500.0, 22.0))
        odd.update(-1500.0 if chunk < 2 else -1900.0, num_rows=500, expected=(-1500.0, 22.0))
    assert not ordinary.alarms
    assert odd.alarms[0][:3] == Alarm(2000, 1000, "surprise", 0.0)[:3]
    assert math.isclose(odd.alarms[0].size, -0.8, rel_tol=0.02)


def expected_alarms(standardised, distance=1_000_000):
    """The alarms of scores that differ from their expectation by so many standard deviations."""
    detector = sgais.ShiftDetector(distance)
    for score in standardised:
        detector.update(-300.0 + 10.0 * score, num_rows=ROWS, expected=(-300.0, 10.0))
    return detector.alarms


def test_false_alarms_are_as_far_apart_as_asked_with_expectations_too():
    generator = np.random.default_rng(11)
    num_alarms = sum(len(expected_alarms(generator.normal(size=150), 100 * ROWS)) for _ in range(200))
    assert 0.5 < 300 / num_alarms < 2.0


def test_a_model_that_is_a_little_wrong_about_itself_raises_no_alarm():
    """Half a standard deviation off, and a spread a third too large, all the time: that is no change."""
    generator = np.random.default_rng(12)
    num_alarms = sum(len(expected_alarms(-0.5 + 1.3 * generator.normal(size=200))) for _ in range(50))
    assert num_alarms <= 4  # one expected in 10,000 chunks of 100 rows


def test_with_expectations_a_change_needs_no_history():
    generator = np.random.default_rng(13)
    for _ in range(20):
        scores = generator.normal(size=12)
        scores[2:] -= 8.0
        assert expected_alarms(scores)[0].location <= 3 * ROWS
        without = sgais.ShiftDetector()
        assert not any(without.update(-300.0 + 10.0 * one, num_rows=ROWS).drift_detected for one in scores[:4])


def test_after_an_alarm_only_the_history_counts():
    """A model that cannot explain the new data is not reported again and again."""
    scores = np.random.default_rng(14).normal(size=200)
    scores[50:] -= 12.0
    assert [alarm.location for alarm in expected_alarms(scores)] == [50 * ROWS]


def test_records_and_numbers_say_the_same():
    scores = -1500.0 + 22.0 * np.random.default_rng(8).normal(size=60) - 300.0 * (np.arange(60) >= 40)
    from_records = sgais.ShiftDetector().scan(record(500 * (n + 1), score) for n, score in enumerate(scores))
    detector = sgais.ShiftDetector()
    seen = [detector.update(score, num_rows=500).drift_detected for score in scores]
    assert detector.alarms == from_records
    assert [500 * (n + 1) for n in np.flatnonzero(seen)] == [alarm.row for alarm in from_records]
    assert detector.location == from_records[-1].location == 20_000


def test_a_restored_detector_goes_on_as_if_nothing_had_been(tmp_path):
    scores = -300.0 + 10.0 * np.random.default_rng(9).normal(size=200) - 40.0 * (np.arange(200) % 60 > 40)
    whole = sgais.ShiftDetector(50_000)
    for number, score in enumerate(scores):
        if number in (1, 3, 43, 100):
            checkpoint.write(tmp_path / "detector", whole.state())
            parts = [sgais.ShiftDetector.restored(checkpoint.read(tmp_path / "detector", {}))]
            parts.append(pickle.loads(pickle.dumps(whole)))
            for part in parts:
                assert part.state() == whole.state()
            whole = parts[0]
        whole.update(score, num_rows=ROWS)
    unbroken = sgais.ShiftDetector(50_000)
    for score in scores:
        unbroken.update(score, num_rows=ROWS)
    assert whole.alarms == unbroken.alarms
    assert len(whole.alarms) >= 2


def test_reset_forgets_everything():
    detector = shifted(sgais.ShiftDetector(), -10.0)
    detector.reset()
    assert detector.state() == sgais.ShiftDetector().state()
    assert detector.location is None


def test_scores_that_stand_still():
    detector = sgais.ShiftDetector()
    for _ in range(50):
        assert not detector.update(-3.0).drift_detected


@pytest.mark.parametrize("value", [0, -1.0, math.inf, math.nan, "often", True])
def test_a_rate_that_is_none(value):
    with pytest.raises(ConfigError, match="`mean_rows_between_false_alarms` must be a positive number"):
        sgais.ShiftDetector(value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"x": math.nan}, "`x` must be a finite number, got nan"),
        ({"x": None}, "`x` must be a finite number"),
        ({"x": record(200, -math.inf)}, "`x.increment` must be a finite number"),
        ({"x": record(100, -1.0)}, "`x.num_rows` must be more than 100, got 100. Show a detector one stream"),
        ({"x": -1.0, "num_rows": 0}, "`num_rows` must be a whole number of at least 1"),
        ({"x": -1.0, "num_rows": 1.5}, "`num_rows` must be a whole number of at least 1"),
        ({"x": -1.0, "expected": (0.0, 0.0)}, "`expected` must be a mean and a positive standard deviation"),
        ({"x": -1.0, "expected": (math.nan, 1.0)}, "`expected` must be a mean and a positive standard deviation"),
        ({"x": -1.0, "expected": 3.0}, "`expected` must be a mean and a positive standard deviation"),
    ],
)
def test_bad_input_is_refused_and_changes_nothing(arguments, message):
    detector = sgais.ShiftDetector().update(-300.0, num_rows=100)
    before = detector.state()
    with pytest.raises(ConfigError, match=message):
        detector.update(**arguments)
    assert detector.state() == before
