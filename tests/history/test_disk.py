import shutil

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
    state = disk.state(tmp_path)
    disk.append(chunk(100, 150))
    again = Disk.restored(state, tmp_path)
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
    with pytest.raises(sgais.HistoryError, match="room in .*rows, got No space left on device. The chunk was not used"):
        disk.append(chunk(500, 5000))
    assert disk.num_rows == 100
    filled.unlink()
    disk.append(chunk(100, 200))
    np.testing.assert_array_equal(disk.between(0, 200)["y"], np.arange(200))


def test_rows_that_are_gone_are_missed(tmp_path):
    disk = Disk(tmp_path / "rows")
    disk.append(chunk(0, 100))
    state = disk.state(tmp_path)
    with (tmp_path / "rows").open("r+b") as file:
        file.truncate(500)
    with pytest.raises(sgais.SgaisError, match="counts on 100 rows in .*rows, which is missing or shorter"):
        Disk.restored(state, tmp_path)
    (tmp_path / "rows").unlink()
    with pytest.raises(sgais.CheckpointError, match="the rows in .*rows cannot be saved: No such file"):
        disk.state(tmp_path)


def test_a_copied_folder_has_rows_of_its_own(tmp_path):
    (tmp_path / "one").mkdir()
    disk = Disk(tmp_path / "one" / "rows")
    disk.append(chunk(0, 100))
    state = disk.state(tmp_path / "one")
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    before = (tmp_path / "one" / "rows").read_bytes()
    copy = Disk.restored(state, tmp_path / "two")
    copy.append(chunk(700, 800))
    assert (tmp_path / "one" / "rows").read_bytes() == before
    np.testing.assert_array_equal(copy.between(90, 110)["y"], [*range(90, 100), *range(700, 710)])


@pytest.mark.parametrize("path", ["{}", "../precious", "precious"])
def test_a_crafted_checkpoint_writes_over_nothing(tmp_path, path):
    """Its identity is not in the file; one of an older version has none, and may name files beside it only."""
    folder = tmp_path / "folder"
    folder.mkdir()
    disk = Disk(folder / "rows")
    disk.append(chunk(0, 100))
    state = disk.state(folder)
    precious = tmp_path / "precious"
    precious.write_bytes(b"precious" * 10_000)
    (folder / "precious").symlink_to(precious)
    crafted = state | {"path": path.format(precious)}
    older = {name: crafted[name] for name in ("path", "num_rows", "columns")}
    for found in (crafted, older):
        with pytest.raises(sgais.SgaisError, match="must hold the rows that the checkpoint was saved with|missing"):
            Disk.restored(found, folder)
    assert precious.read_bytes() == b"precious" * 10_000


def test_two_runs_that_share_a_file_are_told_apart(tmp_path):
    """Of two that went on from one checkpoint elsewhere, the second has written over the rows of the first."""
    disk = Disk(tmp_path / "rows")
    disk.append(chunk(0, 100))
    early = disk.state(tmp_path / "elsewhere")
    disk.append(chunk(100, 200))
    late = disk.state(tmp_path / "elsewhere")
    Disk.restored(early, tmp_path / "elsewhere").append(chunk(900, 1000))
    with pytest.raises(sgais.SgaisError, match="two runs cannot share one"):
        Disk.restored(late, tmp_path / "elsewhere")


def test_rows_of_a_version_without_identities_are_read(tmp_path):
    from sgais.history.records import to_records

    records = to_records(chunk(0, 100))
    (tmp_path / "rows").write_bytes(records.tobytes())
    older = {"path": "/somewhere/else/rows", "num_rows": 100, "columns": chunk(0, 0)}
    disk = Disk.restored(older, tmp_path)
    disk.append(chunk(100, 120))
    again = Disk.restored(disk.state(tmp_path), tmp_path)
    np.testing.assert_array_equal(again.between(0, 120)["y"], np.arange(120))
