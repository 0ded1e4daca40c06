"""The write-ahead log: what was written comes back, once, whatever happened in between."""

import errno
import os
import shutil

import numpy as np
import pytest

from sgais.errors import CheckpointError
from sgais.serve.intake.idempotency import Keys, digest_of
from sgais.serve.log.reader import LogReader
from sgais.serve.log.row_log import Batch, RowLog


def rows(start, end):
    numbers = np.arange(start, end, dtype=np.float32)
    return {"x": np.stack([numbers, -numbers], axis=1), "y": numbers}


def filled(folder, sizes=(3, 1, 7, 5)):
    log, start = RowLog(folder), 0
    for size in sizes:
        log.append([Batch(rows(start, start + size))])
        start += size
    return log


def everything(log, start=0):
    reader = LogReader(log, start)
    chunk = reader.take(log.end_row - start)
    reader.close()
    return chunk["y"].tolist()


def test_rows_come_back_in_stretches_of_any_length(tmp_path):
    log = filled(tmp_path)
    reader = LogReader(log, 0)
    taken = [reader.take(count)["x"] for count in (2, 2, 9, 3)]
    np.testing.assert_array_equal(np.concatenate(taken), rows(0, 16)["x"])
    assert reader.take(1) is None
    log.append([Batch(rows(16, 18)), Batch(rows(18, 20))])
    assert reader.take(4)["y"].tolist() == [16, 17, 18, 19]
    reader.close()


@pytest.mark.parametrize("start", [0, 1, 3, 4, 10, 15])
def test_reading_begins_anywhere(tmp_path, start):
    assert everything(filled(tmp_path), start) == list(range(start, 16))


def test_a_log_is_gone_on_with(tmp_path):
    filled(tmp_path)
    log = RowLog(tmp_path)
    log.append([Batch(rows(16, 20))])
    assert everything(RowLog(tmp_path)) == list(range(20))


@pytest.mark.parametrize("cut", [1, 10, 60, 100])
def test_half_of_a_batch_is_set_aside(tmp_path, cut):
    filled(tmp_path)
    path = next(tmp_path.glob("*.log"))
    whole = path.read_bytes()
    filled(tmp_path / "longer", (3, 1, 7, 5, 4))
    longer = next((tmp_path / "longer").glob("*.log")).read_bytes()
    path.write_bytes(longer[: len(whole) + cut])
    with pytest.warns(
        UserWarning, match="bytes behind row 16 were set aside: they are a part of a batch that was being written"
    ):
        log = RowLog(tmp_path)
    log.append([Batch(rows(16, 17))])
    assert everything(RowLog(tmp_path)) == list(range(17))
    assert path.with_suffix(".torn").stat().st_size == cut


def test_a_file_without_its_first_line(tmp_path):
    filled(tmp_path)
    (tmp_path / f"rows-{16:020d}.log").write_bytes(b'{"name": "sg')
    log = RowLog(tmp_path)
    log.append([Batch(rows(16, 17))])
    assert everything(RowLog(tmp_path)) == list(range(17))


def flip(path, place):
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


def segments(folder):
    return sorted(folder.glob("*.log"))


BATCH_BYTES = {3: 40 + 3 * 32, 1: 40 + 32, 7: 40 + 7 * 32, 5: 40 + 5 * 32}


@pytest.mark.parametrize("place", range(-5 * 32 - 40 - 7 * 32 - 40, -5 * 32 - 40, 7))
def test_a_damaged_byte_with_whole_batches_behind_it_is_no_torn_end(tmp_path, place):
    """Header or rows of the last batch but one: the last is whole, and was acknowledged."""
    filled(tmp_path / "log")
    (path,) = segments(tmp_path / "log")
    flip(path, place)
    damaged = path.read_bytes()
    refusal = "is damaged at row 4: a whole batch follows, which ends at row 16. Rows from 4 on .* --accept-lost-rows"
    for _ in range(2):
        with pytest.raises(CheckpointError, match=refusal):
            RowLog(tmp_path / "log")
        assert path.read_bytes() == damaged, "nothing is cut off before somebody has decided"
    with pytest.warns(UserWarning, match="acknowledged rows from 4 on were given up"):
        log = RowLog(tmp_path / "log", gives_up=True)
    assert log.has_given_up
    log.append([Batch(rows(4, 6))])
    assert everything(RowLog(tmp_path / "log")) == list(range(6))
    assert path.with_suffix(".torn").stat().st_size == BATCH_BYTES[7] + BATCH_BYTES[5]


def test_a_newest_file_that_is_gone_is_missed(tmp_path):
    log = filled(tmp_path / "log")
    log.start_new_file()
    log.append([Batch(rows(16, 20))])
    segments(tmp_path / "log")[-1].unlink()
    with pytest.raises(CheckpointError, match="must have the file that begins with row 16, got none. Rows from 16 on"):
        RowLog(tmp_path / "log")
    with pytest.warns(UserWarning, match="rows from 16 on were given up"):
        log = RowLog(tmp_path / "log", gives_up=True)
    log.append([Batch(rows(16, 17))])
    assert everything(RowLog(tmp_path / "log")) == list(range(17))


def test_a_folder_that_is_gone_is_missed(tmp_path):
    filled(tmp_path / "log")
    shutil.rmtree(tmp_path / "log")
    with pytest.raises(CheckpointError, match="must have the file that begins with row 0, got none"):
        RowLog(tmp_path / "log")


def test_a_file_without_whole_batches_that_are_known_is_refused(tmp_path):
    """The end of a file that was cut off between two batches says nothing; the checkpoint knows of more rows."""
    filled(tmp_path / "log")
    (path,) = segments(tmp_path / "log")
    path.write_bytes(path.read_bytes()[: -BATCH_BYTES[5]])
    assert RowLog(tmp_path / "log", 3, acknowledged=11).end_row == 11
    with pytest.raises(CheckpointError, match="must hold the rows to 16, got a log that ends at 11. Rows from 11 on"):
        RowLog(tmp_path / "log", 3, acknowledged=16)


def test_damage_that_nobody_needs_is_set_aside(tmp_path):
    log = filled(tmp_path / "log")
    log.start_new_file()
    log.append([Batch(rows(16, 20))])
    flip(segments(tmp_path / "log")[0], -1)
    with pytest.warns(UserWarning, match="damaged in front of row 16"):
        log = RowLog(tmp_path / "log", 18)
    assert everything(log, 18) == [18, 19]


def test_a_log_that_was_emptied_by_a_checkpoint_is_not_missed(tmp_path):
    log = filled(tmp_path / "log")
    log.start_new_file()
    log.drop_before(16)
    assert segments(tmp_path / "log") == []
    assert RowLog(tmp_path / "log", 16, acknowledged=16).end_row == 16


def test_damage_in_the_middle_is_no_torn_end(tmp_path):
    log = filled(tmp_path)
    log.start_new_file()
    log.append([Batch(rows(16, 20))])
    path = min(tmp_path.glob("*.log"))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match="damaged"):
        RowLog(tmp_path)


def test_files_are_dropped_when_no_checkpoint_needs_them(tmp_path):
    log = filled(tmp_path)
    log.start_new_file()
    log.append([Batch(rows(16, 20))])
    log.drop_before(15)
    assert len(list(tmp_path.glob("*.log"))) == 2
    log.drop_before(16)
    assert [path.name for path in tmp_path.glob("*.log")] == [f"rows-{16:020d}.log"]
    assert everything(log, 16) == [16, 17, 18, 19]
    assert RowLog(tmp_path, 18).end_row == 20
    with pytest.raises(CheckpointError, match="must hold the rows to 30, got a log that ends at 20"):
        RowLog(tmp_path, 30)


def test_a_write_that_fails_leaves_no_trace(tmp_path, monkeypatch):
    log = filled(tmp_path)
    size = next(tmp_path.glob("*.log")).stat().st_size

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", full)
        with pytest.raises(OSError, match="No space"):
            log.append([Batch(rows(16, 20))])
    assert next(tmp_path.glob("*.log")).stat().st_size == size
    log.append([Batch(rows(16, 18))])
    assert everything(RowLog(tmp_path)) == list(range(18))


def test_keys_are_found_again_and_the_oldest_forgotten(tmp_path, monkeypatch):
    monkeypatch.setattr("sgais.serve.intake.idempotency.MOST_KEYS", 3)
    log = RowLog(tmp_path)
    log.append([Batch(rows(number, number + 1), digest_of(f"key {number}")) for number in range(5)])
    keys = Keys()
    for entry in RowLog(tmp_path).entries:
        keys.add(entry)
    for known in (keys, Keys.restored(keys.state())):
        assert known.find(digest_of("key 1")) is None
        assert known.find(digest_of("key 4")).first_row == 4
