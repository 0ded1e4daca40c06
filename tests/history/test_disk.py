import numpy as np
import pytest

import sgais
from sgais.history import Disk, Memory, draw


def chunk(start, end):
    y = np.arange(start, end)
    return {"x": np.stack([y, -y], axis=1).astype(np.float32), "y": y.astype(np.int32)}


def test_rows_on_disk_are_those_in_memory(tmp_path):
    disk, memory = Disk(tmp_path / "rows"), Memory()
    for history in (disk, memory):
        for start in range(0, 5000, 700):
            history.append(chunk(start, start + 700))
            drawn = draw(history, np.random.default_rng(0), (20,))
            np.testing.assert_array_equal(drawn["x"][:, 1], -drawn["y"])
    assert disk.num_rows == disk.reach == memory.num_rows
    for name in ("x", "y"):
        drawn = (draw(history, np.random.default_rng(1), (3, 40))[name] for history in (disk, memory))
        np.testing.assert_array_equal(*drawn)
        np.testing.assert_array_equal(disk.between(600, 2000)[name], memory.between(600, 2000)[name])


def test_a_restored_history_forgets_what_came_after_the_checkpoint(tmp_path):
    disk = Disk(tmp_path / "rows")
    disk.append(chunk(0, 100))
    state = disk.state()
    disk.append(chunk(100, 150))
    again = Disk.restored(state)
    assert again.num_rows == 100
    again.append(chunk(500, 530))
    np.testing.assert_array_equal(again.between(90, 130)["y"], [*range(90, 100), *range(500, 530)])


def test_a_file_that_exists_is_not_overwritten(tmp_path):
    (tmp_path / "rows").write_text("precious")
    with pytest.raises(sgais.SgaisError, match="`path` must be a new file, got .*rows, which exists"):
        Disk(tmp_path / "rows")
    assert (tmp_path / "rows").read_text() == "precious"


def test_a_full_disk_refuses_rows_and_takes_them_when_there_is_room(small_disk, ballast):
    disk = Disk(small_disk / "rows")
    disk.append(chunk(0, 100))
    filled = ballast()
    with pytest.raises(
        sgais.HistoryError, match="room in .*rows, got No space left on device. The chunk was not taken"
    ):
        disk.append(chunk(500, 5000))
    assert disk.num_rows == 100
    filled.unlink()
    disk.append(chunk(100, 200))
    np.testing.assert_array_equal(disk.between(0, 200)["y"], np.arange(200))


def test_rows_that_are_gone_are_missed(tmp_path):
    disk = Disk(tmp_path / "rows")
    disk.append(chunk(0, 100))
    state = disk.state()
    with (tmp_path / "rows").open("r+b") as file:
        file.truncate(500)
    with pytest.raises(sgais.SgaisError, match="counts on 100 rows in .*rows, which is missing or shorter"):
        Disk.restored(state)
    (tmp_path / "rows").unlink()
    with pytest.raises(sgais.CheckpointError, match="the rows in .*rows cannot be saved: No such file"):
        disk.state()
