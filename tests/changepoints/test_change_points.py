"""ChangePoints against all segmentations of streams of which every segment's evidence is known."""

import numpy as np
import pytest
from exact import all_segmentations, by_recursion, segment_evidences

import sgais
from sgais.models import LinearRegression

MODEL = LinearRegression(dim=2)
ROWS, CHUNK, HAZARD = 200, 10, 1 / 100
CHANGE = 1 - (1 - HAZARD) ** CHUNK


def stream_of(changes, num_rows=ROWS, seed=0):
    """Linear regression whose weights are drawn anew at these rows."""
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(num_rows, 2)).astype(np.float32)
    y = generator.normal(size=num_rows)
    for start, end in zip([0, *changes], [*changes, num_rows], strict=True):
        y[start:end] += x[start:end] @ generator.normal(size=2)
    return {"x": x, "y": y.astype(np.float32)}


def followed(models, data, chunk=CHUNK, **options):
    points = sgais.ChangePoints(models, hazard=HAZARD, **options)
    points.run(sgais.stream(data, chunk))
    return points


def test_the_recursion_of_the_tests_sums_all_segmentations():
    data = stream_of([60], 110)
    evidences = segment_evidences(MODEL, data, range(10, 111, 10))
    changes = np.full(10, CHANGE)
    total, probabilities, _ = all_segmentations(evidences, changes)
    same_total, same_probabilities = by_recursion(evidences, changes)
    assert same_total == pytest.approx(total)
    assert same_probabilities == pytest.approx(probabilities)


@pytest.mark.parametrize(("changes", "seed"), [([], 0), ([80], 1), ([60, 150], 2), ([100, 120], 3)])
def test_evidence_and_probabilities_are_exact_within_errors(changes, seed):
    data = stream_of(changes, seed=seed)
    points = followed(MODEL, data, seed=seed)
    evidences = segment_evidences(MODEL, data, range(CHUNK, ROWS + 1, CHUNK))
    total, probabilities = by_recursion(evidences, np.full(ROWS // CHUNK - 1, CHANGE))
    assert abs(points.log_evidence - total) <= 4 * points.standard_error
    assert points.standard_error < 0.2
    assert points.borders.tolist() == list(range(CHUNK, ROWS, CHUNK))
    # Log odds are differences of log evidences: they may be off by a few of their errors.
    slack = 5 * points.standard_error * probabilities * (1 - probabilities) + 1e-4
    assert (np.abs(points.probability - probabilities) <= slack).all()


def test_the_best_segmentation_is_the_best_of_all():
    data = stream_of([40, 80], 110, seed=6)
    points = followed(MODEL, data)
    evidences = segment_evidences(MODEL, data, range(10, 111, 10))
    _, _, best = all_segmentations(evidences, np.full(10, CHANGE))
    assert [segment.start // 10 for segment in points.segments] == best == [0, 4, 8]
    assert [segment.end for segment in points.segments] == [40, 80, 110]


def test_chunks_of_any_size():
    data = stream_of([60], 120, seed=6)
    points, ends = sgais.ChangePoints(MODEL, hazard=HAZARD), np.cumsum([1, 9, 30, 20, 5, 55])
    for start, end in zip([0, *ends], ends, strict=False):
        points.update({name: values[start:end] for name, values in data.items()})
    changes = 1 - (1 - HAZARD) ** np.diff(ends)
    total, probabilities = by_recursion(segment_evidences(MODEL, data, ends), changes)
    assert abs(points.log_evidence - total) <= 4 * points.standard_error
    assert points.probability == pytest.approx(probabilities, abs=0.05)


def test_of_several_models_each_segment_has_its_own():
    data = stream_of([100], seed=7)
    generator = np.random.default_rng(8)
    data["y"][100:] = (2.0 * data["x"][100:, 0] + 0.2 * generator.normal(size=100)).astype(np.float32)
    models = {"both": MODEL, "quiet": LinearRegression(dim=2, noise_scale=0.2)}
    odds = {"both": 3.0, "quiet": 1.0}
    points = followed(models, data, prior_odds=odds)
    assert [(segment.start, segment.model) for segment in points.segments] == [(0, "both"), (100, "quiet")]
    assert points.probabilities["quiet"] > 0.999
    ends = range(CHUNK, ROWS + 1, CHUNK)
    parts = [segment_evidences(model, data, ends) for model in models.values()]
    mixed = np.logaddexp(np.log(0.75) + parts[0], np.log(0.25) + parts[1])
    total, _ = by_recursion(mixed, np.full(ROWS // CHUNK - 1, CHANGE))
    assert abs(points.log_evidence - total) <= 4 * points.standard_error


def test_a_small_bank_loses_little():
    data = stream_of([80], seed=1)
    small, large = followed(MODEL, data, bank=8), followed(MODEL, data)
    assert small.last_record.num_segments == 8 < large.last_record.num_segments
    assert small.log_evidence == pytest.approx(large.log_evidence, abs=0.2)
    assert small.probability.max() > 0.9


def test_predictions_forget_what_is_over():
    generator = np.random.default_rng(9)
    x = generator.normal(size=(400, 2)).astype(np.float32)
    weights = np.where(np.arange(400) < 300, 1.5, -1.5)
    data = {"x": x, "y": (weights * x[:, 0] + generator.normal(size=400)).astype(np.float32)}
    points = followed(MODEL, data, chunk=20)
    inputs = {"x": np.array([[1.0, 0.0], [-1.0, 0.0]])}
    assert points.predict(inputs).mean == pytest.approx([-1.5, 1.5], abs=0.4)
    lengths, shares = points.run_lengths
    assert shares[lengths <= 100].sum() > 0.99


def test_the_log_predictive_is_the_increment_to_come():
    data = stream_of([100], seed=1)
    points = sgais.ChangePoints(MODEL, hazard=HAZARD)
    chunks = list(sgais.stream(data, CHUNK))
    for chunk in chunks[:-1]:
        points.update(chunk)
    before = points.log_evidence
    expected = points.log_predictive(chunks[-1])
    assert points.log_evidence == before
    assert points.update(chunks[-1]).increment == expected


def test_saved_and_resumed_it_goes_on_to_the_bit(tmp_path):
    data = stream_of([80], seed=1)
    models = {"both": MODEL, "one": LinearRegression(dim=2, features=(0,))}
    straight, half = followed(models, data, seed=3), sgais.ChangePoints(models, hazard=HAZARD, seed=3)
    for chunk in list(sgais.stream(data, CHUNK))[:9]:
        half.update(chunk)
    half.save(tmp_path / "half")
    resumed = sgais.ChangePoints.load(tmp_path / "half", models)
    resumed.run(sgais.stream(data, CHUNK))
    assert resumed.log_evidence == straight.log_evidence
    assert (resumed.probability == straight.probability).all()
    assert resumed.segments == straight.segments
    forgotten = [record._replace(seconds=0.0) for record in straight.records]
    assert [record._replace(seconds=0.0) for record in resumed.records] == forgotten
    with pytest.raises(sgais.CheckpointError, match="must be the one that was saved"):
        sgais.ChangePoints.load(tmp_path / "half", models | {"one": LinearRegression(dim=2, features=(1,))})
    with pytest.raises(sgais.ConfigError, match="have the names that were saved"):
        sgais.ChangePoints.load(tmp_path / "half", MODEL)


def test_a_refused_chunk_leaves_everything_as_it_was():
    points = sgais.ChangePoints(MODEL)
    chunks = list(sgais.stream(stream_of([], 40), 20))
    points.update(chunks[0])
    before = points.log_evidence
    with pytest.raises(sgais.DataError):
        points.update({"x": np.full((1, 2), np.nan), "y": np.zeros(1)})
    assert (points.num_rows, points.log_evidence) == (20, before)
    points.update(chunks[1])
    assert points.num_rows == 40


def test_wrong_arguments_are_refused():
    for options, message in (
        ({"hazard": 0.0}, "`hazard` must lie between 0 and 1"),
        ({"hazard": 2}, "`hazard`"),
        ({"bank": 1}, "`bank` must be a whole number of at least 2"),
        ({"history": sgais.history.Reservoir(10)}, "`history` must keep all rows"),
        ({"config": sgais.Config.paper()}, "`config` must be a sgais.Config"),
    ):
        with pytest.raises(sgais.ConfigError, match=message):
            sgais.ChangePoints(MODEL, **options)
    with pytest.raises(sgais.ConfigError, match="`models` must be"):
        sgais.ChangePoints({})
    with pytest.raises(sgais.SgaisError, match="nothing to save"):
        sgais.ChangePoints(MODEL).save("nowhere")


@pytest.mark.parametrize(
    "size", [pytest.param(1e4, marks=pytest.mark.slow), 1e8, pytest.param(3e38, marks=pytest.mark.slow)]
)
def test_a_row_that_nothing_explains_is_left_out(size, tmp_path):
    """Not even a change does: before, log Z lost its digits for good, and no later change was found."""
    data = stream_of([100])
    wrong = {name: values.astype(np.float64) for name, values in data.items()}
    wrong["y"][55] = size
    points = followed(MODEL, wrong)
    kept = np.arange(ROWS) != 55
    others = sgais.ChangePoints(MODEL, hazard=HAZARD)
    for start in range(0, ROWS, CHUNK):
        span = slice(start, start + CHUNK)
        others.update({name: values[span][kept[span]] for name, values in data.items()})
    assert points.log_evidence == others.log_evidence
    assert points.probability.tolist() == others.probability.tolist()
    assert (points.num_rows, points.place.num_bad_rows) == (ROWS - 1, 1)
    assert points.records[4].warning == ""
    points.save(tmp_path / "points")
    for each in (points, sgais.ChangePoints.load(tmp_path / "points", MODEL)):
        each.update({name: values[:CHUNK] for name, values in data.items()})
        assert "a row was left out as absurd by the predictive, the first of them row 55" in each.last_record.warning
    refusing = sgais.ChangePoints(MODEL, hazard=HAZARD, on_outlier="raise")
    with pytest.raises(sgais.DataError, match="row 5 of the chunk, row 55 of the stream, which is absurd"):
        refusing.run(sgais.stream(wrong, CHUNK))
    assert refusing.num_rows == 50
