"""OnlineEvidence across interruptions: to the bit."""

import numpy as np
import pytest

import sgais
from sgais import simulate
from sgais.history import Disk, Memory, Reservoir
from sgais.models import LinearRegression

MODEL = LinearRegression(dim=2)
DATA = simulate.linear_regression(4000, dim=2).data


def stream(chunk_size=500):
    return sgais.stream(DATA, chunk_size)


def assert_same(first, second):
    assert first.log_evidence == second.log_evidence
    for name, values in first.particles.items():
        np.testing.assert_array_equal(values, second.particles[name])
    ours, theirs = first.to_frame().drop(columns="seconds"), second.to_frame().drop(columns="seconds")
    assert ours.equals(theirs)


@pytest.mark.parametrize("kind", [Memory, Disk, Reservoir])
@pytest.mark.parametrize("stop", [1, 5])
def test_a_resumed_run_repeats_every_bit(tmp_path, kind, stop):
    def history(name):
        return {"Memory": Memory, "Disk": lambda: Disk(tmp_path / name), "Reservoir": lambda: Reservoir(700)}[
            kind.__name__
        ]()

    whole = sgais.OnlineEvidence(MODEL, history=history("whole"))
    whole.run(stream())
    first = sgais.OnlineEvidence(MODEL, history=history("first"))
    chunks = list(stream())
    first.run(chunks[:stop], save_to=tmp_path / "checkpoint")
    first.update(chunks[stop])  # happened after the checkpoint, so it is lost
    second = sgais.OnlineEvidence.load(tmp_path / "checkpoint", MODEL)
    second.run(stream())
    assert_same(whole, second)


def test_the_published_algorithm_resumes_too(tmp_path):
    whole, first = (sgais.OnlineEvidence(MODEL, sgais.Config.paper(num_particles=6), seed=3) for _ in range(2))
    whole.run(stream())
    for chunk in list(stream())[:3]:
        first.update(chunk)
    first.save(tmp_path / "checkpoint")
    second = sgais.OnlineEvidence.load(tmp_path / "checkpoint", MODEL)
    second.run(stream())
    assert_same(whole, second)


def test_checkpoints_on_the_way(tmp_path):
    evidence = sgais.OnlineEvidence(MODEL)
    evidence.run(list(stream())[:5], save_to=tmp_path / "checkpoint", every_chunks=2, every_seconds=None)
    assert sgais.OnlineEvidence.load(tmp_path / "checkpoint", MODEL).num_rows == 2500, "one at the end"
    before = tmp_path / "checkpoint.previous"
    assert sgais.OnlineEvidence.load(before, MODEL).num_rows == 2000, "one every two chunks"


def test_a_checkpoint_that_cannot_be_written_is_no_end(tmp_path):
    evidence = sgais.OnlineEvidence(MODEL)
    with pytest.warns(UserWarning, match="no checkpoint at 4000 rows: `path` must be a place that can be written to"):
        evidence.run(stream(2000), save_to=tmp_path / "nowhere" / "checkpoint", every_chunks=2)
    assert evidence.num_rows == 4000


def test_a_full_disk_is_no_end(small_disk, ballast):
    evidence, saved, chunks = sgais.OnlineEvidence(MODEL), small_disk / "checkpoint", list(stream())
    evidence.run(chunks[:4], save_to=saved)
    ballast()
    with pytest.warns(UserWarning, match="no checkpoint at 4000 rows: .*checkpoint: No space left on device"):
        evidence.run(chunks[4:], save_to=saved)
    assert evidence.num_rows == 4000
    resumed = sgais.OnlineEvidence.load(saved, MODEL)
    assert resumed.num_rows == 2000, "the checkpoint before is untouched"
    resumed.run(stream())
    assert_same(evidence, resumed)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (LinearRegression(dim=3), r"with parameters {'weights': \[2\], 'bias': \[\]}, got {'weights': \[3\]"),
        (LinearRegression(dim=2, noise_scale=2.0), "with a log-likelihood of .* at a stored particle, got"),
    ],
)
def test_another_model_is_refused(tmp_path, other, message):
    evidence = sgais.OnlineEvidence(MODEL)
    evidence.update(next(iter(stream())))
    evidence.save(tmp_path / "checkpoint")
    with pytest.raises(sgais.CheckpointError, match=message):
        sgais.OnlineEvidence.load(tmp_path / "checkpoint", other)
    evidence.save(tmp_path / "checkpoint")
    with pytest.raises(sgais.CheckpointError, match=f"{message}.* The previous generation is .*checkpoint.previous"):
        sgais.OnlineEvidence.load(tmp_path / "checkpoint", other)


def test_a_resumed_run_needs_a_stream_that_can_go_on(tmp_path):
    evidence = sgais.OnlineEvidence(MODEL)
    evidence.run(list(stream())[:1], save_to=tmp_path / "checkpoint")
    resumed = sgais.OnlineEvidence.load(tmp_path / "checkpoint", MODEL)
    with pytest.raises(sgais.ConfigError, match="one that can continue at row 500, got a plain iterable"):
        resumed.run([DATA])


def test_nothing_to_save_before_the_first_chunk(tmp_path):
    with pytest.raises(sgais.SgaisError, match="nothing to save before the first chunk"):
        sgais.OnlineEvidence(MODEL).save(tmp_path / "checkpoint")


def test_bad_rows_are_counted_in_the_records():
    y = DATA["y"].copy()
    y[[7, 600, 601]] = np.nan
    evidence = sgais.OnlineEvidence(MODEL)
    evidence.run(sgais.stream(DATA | {"y": y}, 500, on_error="skip"))
    assert evidence.num_rows == 3997
    assert evidence.to_frame()["num_bad_rows"].tolist() == [1, 3, 3, 3, 3, 3, 3, 3]


def test_a_checkpoint_of_before_there_was_a_column_is_still_read(tmp_path, monkeypatch):
    """As they were written when records had no `mode_doubt`."""
    from sgais.results.curve import Curve

    state = Curve.state

    def without(self):
        found = state(self)
        return found | {"numbers": {name: of for name, of in found["numbers"].items() if name != "mode_doubt"}}

    first = sgais.OnlineEvidence(MODEL, sgais.Config.paper(num_particles=6))
    first.run(list(stream())[:2])
    with monkeypatch.context() as patch:
        patch.setattr(Curve, "state", without)
        first.save(tmp_path / "checkpoint")
    assert_same(first, sgais.OnlineEvidence.load(tmp_path / "checkpoint", MODEL))
