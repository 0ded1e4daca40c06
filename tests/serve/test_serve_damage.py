"""Damaged and missing files: a service that is started on them says so, and continues when somebody has decided."""

import shutil
import signal
import subprocess
import sys
import time

import pytest
from served import COLUMNS, MODELS, as_rows

QUICK = ("--paper", "--set", "num_particles=16", "--chunk-size", "50")


def refused_start(folder, *arguments):
    """What a start says that ends at once."""
    command = [sys.executable, "-m", "sgais", "serve", *map(str, arguments), "--save", folder, "--port", "0"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert result.returncode == 1, result
    assert "Traceback" not in result.stderr
    return result.stderr


def flip(path, place):
    content = bytearray(path.read_bytes())
    content[place] ^= 4
    path.write_bytes(content)


def killed_with_rows(start, data, *arguments):
    """Five batches of 20 rows, each acknowledged; two chunks of 50 taken in; killed."""
    service = start(*MODELS, *COLUMNS, *QUICK, *arguments)
    for number in range(5):
        assert service.post(as_rows(data, 20 * number, 20 * number + 20), key=f"{number}").status == 201
    service.wait_for_rows(100)
    service.kill()


def test_a_damaged_byte_in_front_of_acknowledged_batches(start, data, tmp_path):
    killed_with_rows(start, data, "--checkpoint-seconds", 1000)
    (path,) = (tmp_path / "kept" / "log").glob("*.log")
    flip(path, path.stat().st_size // 2)
    said = refused_start(tmp_path / "kept")
    assert "damaged at row 40: a whole batch follows, which ends at row 80" in said
    assert "--accept-lost-rows" in said
    service = start("--accept-lost-rows")
    assert "acknowledged rows from 40 on were given up" in service.said
    assert service.get("/state").json["rows_accepted"] == 40
    assert service.post(as_rows(data, 0, 20), key="0").status == 200, "known as before"
    assert service.post(as_rows(data, 40, 60), key="2").status == 201, "it was lost, and is taken again"
    service.kill()
    service = start()
    assert service.wait_for_rows(50)["rows_accepted"] == 60


@pytest.mark.parametrize("missing", [pytest.param("newest file", marks=pytest.mark.slow), "folder"])
def test_a_log_that_is_gone(start, data, tmp_path, missing):
    """Its last rows are known from the note of the newest file, from the checkpoint and from the keys in it."""
    killed_with_rows(start, data, "--checkpoint-seconds", 0.2)
    service = start()
    while service.get("/state").json["rows_saved"] < 100:
        time.sleep(0.1)
    service.post(as_rows(data, 100, 120), key="late")
    service.kill()
    log = tmp_path / "kept" / "log"
    if missing == "folder":
        shutil.rmtree(log)
    else:
        max(log.glob("*.log")).unlink()
    assert "must have the file that begins with row 100, got none" in refused_start(tmp_path / "kept")
    for _ in range(2):  # the decision is remembered
        service = start(*(["--accept-lost-rows"] if "given up" not in service.said else []))
        assert service.get("/state").json["rows_accepted"] == 100
        service.stop()
    service = start()
    assert service.post(as_rows(data, 100, 120), key="late").status == 201


def test_a_good_checkpoint_is_never_replaced_by_a_damaged_one(start, data, tmp_path):
    service = start(*MODELS, *COLUMNS, *QUICK, "--checkpoint-seconds", 0.1)
    for number in range(3):
        service.post(as_rows(data, 50 * number, 50 * number + 50))
        service.wait_for_rows(50 * number + 50)
        time.sleep(0.4)
    assert service.get("/state").json["rows_saved"] == 150
    service.kill()
    checkpoint = tmp_path / "kept" / "checkpoint"
    good = (tmp_path / "kept" / "checkpoint.previous").read_bytes()
    flip(checkpoint, 5000)
    service = start()
    assert "checkpoint is damaged" in service.said
    service.wait_for_rows(150)
    assert service.stop(signal.SIGTERM) == 143
    assert (tmp_path / "kept" / "checkpoint.previous").read_bytes() == good
    flip(checkpoint, 5000)
    service = start()
    assert service.wait_for_rows(150)["rows_accepted"] == 150


def test_settings_that_were_torn(start, data, tmp_path):
    killed_with_rows(start, data)
    settings = tmp_path / "kept" / "run.json"
    settings.write_text("")
    service = start()
    assert "run.json is damaged. Using its copy" in service.said
    assert service.wait_for_rows(100)["rows_accepted"] == 100
    service.kill()
    assert settings.read_text().startswith("{"), "it was written anew"
    for name in ("run.json", ".run.json"):
        (tmp_path / "kept" / name).write_text('{"models": {"both"')
    assert "Say the models and options again" in refused_start(tmp_path / "kept")
    service = start(*MODELS, *COLUMNS, *QUICK)
    assert service.wait_for_rows(100)["rows_accepted"] == 100


def test_rows_are_nobody_elses_business(start, data, tmp_path):
    killed_with_rows(start, data, "--history", "disk", "--checkpoint-seconds", 0.1)
    for name in ("checkpoint", "rows.bin", "log/*.log"):
        for path in (tmp_path / "kept").glob(name):
            assert path.stat().st_mode & 0o077 == 0, path
