"""A disk that is full: new rows are refused with 507, and taken again when there is room."""

import contextlib
import subprocess
import time

import pytest
from served import COLUMNS, MODELS, as_rows

QUICK = ("--paper", "--set", "num_particles=16", "--chunk-size", "50", "--history", "reservoir:100")


@pytest.fixture
def small_disk(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("this process may not mount a tmpfs")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def fill(path):
    """Write until there is no room left."""
    with path.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"\0" * 4096)


def test_a_full_disk(start, data, small_disk):
    service = start(*MODELS, *COLUMNS, *QUICK, "--checkpoint-seconds", "0.5", folder=small_disk / "kept")
    assert service.post(as_rows(data, 0, 100)).status == 201
    service.wait_for_rows(100)
    ballast = small_disk / "ballast"
    fill(ballast)
    place, refusal = 100, None
    while refusal is None and place < 10_000:  # the file of the log may have some room left in its last page
        answer = service.post(as_rows(data, place, place + 100), key=f"{place}")
        if answer.status == 201:
            place += 100
        else:
            refusal = answer
    assert refusal.status == 507, refusal
    assert int(refusal.headers["retry-after"]) > 0
    assert service.get("/health").json["status"] == "running"
    assert service.get("/state").json["rows_accepted"] == place

    ballast.unlink()
    assert service.post(as_rows(data, place, place + 100), key=f"{place}").status == 201
    service.wait_for_rows(place + 100)
    time.sleep(1.0)  # a checkpoint
    service.kill()
    service = start(folder=small_disk / "kept")
    state = service.wait_for_rows(place + 100)
    assert state["rows_accepted"] == place + 100
