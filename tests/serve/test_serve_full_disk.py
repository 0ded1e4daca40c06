"""A disk that is full: new rows are refused with 507, and taken again when there is room."""

import time

from served import COLUMNS, MODELS, as_rows

QUICK = ("--paper", "--set", "num_particles=16", "--chunk-size", "50", "--history", "reservoir:100")


def test_a_full_disk(start, data, small_disk, ballast):
    service = start(*MODELS, *COLUMNS, *QUICK, "--checkpoint-seconds", "0.5", folder=small_disk / "kept")
    assert service.post(as_rows(data, 0, 100)).status == 201
    service.wait_for_rows(100)
    filled = ballast()
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

    filled.unlink()
    assert service.post(as_rows(data, place, place + 100), key=f"{place}").status == 201
    service.wait_for_rows(place + 100)
    time.sleep(1.0)  # a checkpoint
    service.kill()
    service = start(folder=small_disk / "kept")
    state = service.wait_for_rows(place + 100)
    assert state["rows_accepted"] == place + 100
