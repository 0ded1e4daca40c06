"""Change points on the page: while a run looks for them (`--live`), and again when it is over (`--replay`)."""

import signal
import time

import pandas as pd
import pytest
from served import COLUMNS, Served
from test_serve_page import emulate, shown_charts, text, until

MODELS = ("calm=linear-regression", "wild=linear-regression:noise_scale=3")
CHANGE, ROWS = 1200, 2000
CHARTS = ["changes", "run-length", "probabilities", "evidence", "throughput", "memory"]


@pytest.fixture(scope="module")
def live_points(changing_table, tmp_path_factory):
    """`sgais changepoints --live` that has come to its end, and the folder that it wrote."""
    folder = tmp_path_factory.mktemp("points") / "run"
    arguments = [*MODELS, "--data", changing_table, *COLUMNS, "--chunk-size", 100, "--save", folder, "--live"]
    running = Served(folder, *arguments, command="changepoints")
    end = time.monotonic() + 300
    while running.get("/state").json["status"] != "ended" and time.monotonic() < end:
        time.sleep(0.1)
    yield running, folder
    running.kill()


@pytest.fixture(scope="module")
def replay(live_points):
    _, folder = live_points
    service = Served(folder, "--replay", folder)
    yield service
    assert service.stop() == 128 + signal.SIGTERM


def check_state(service, folder):
    """What is told is what was written down."""
    state, records = service.get("/state").json, service.get("/records?points=2000").json
    table, segments, changes = (
        pd.read_csv(folder / f"{name}.csv", float_precision="round_trip") for name in ("records", "segments", "changes")
    )
    changes = changes.set_index("row")["probability"]
    told = state["segmentation"]
    assert [one["start"] for one in told["segments"]] == [0, CHANGE]
    assert told["segments"] == segments.to_dict("records")
    assert (told["num_rows"], told["num_segments"]) == (ROWS, len(segments))
    assert told["rows"] == changes.index[changes >= 1e-3].to_list()
    assert told["probabilities"] == pytest.approx(changes[told["rows"]].to_list(), rel=1e-12)
    for name in ("num_rows", "log_evidence", "standard_error", "run_length"):
        assert records[name] == pytest.approx(table[name].to_list(), rel=1e-12)
    return state


def test_a_live_run_tells_what_it_writes_down(live_points):
    service, folder = live_points
    state = check_state(service, folder)
    assert state["mode"] == "local"
    assert sum(model["probability"] for model in state["models"]) == pytest.approx(1.0)


def test_a_saved_run_is_replayed_as_it_was(live_points, replay):
    assert check_state(replay, live_points[1])["mode"] == "replay"


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1300])
def test_the_page_shows_segments_and_where_changes_are(live_points, browser, scheme, width):
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    emulate(browser, prefers_color_scheme=scheme)
    browser.get(live_points[0].url)
    until(browser, "document.body.dataset.rows", wanted=str(ROWS))
    assert shown_charts(browser) == CHARTS
    assert f"2 segments: the latest change is before row {CHANGE:,}" in text(browser, "#verdict")
    assert text(browser, "#segments tbody tr:last-child").split()[:2] == [f"{CHANGE:,}", f"{ROWS:,}"]
    assert f"row {CHANGE:,}" in text(browser, "#changes .key")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert browser.execute_script("return document.getElementById('models-section').offsetParent") is None
    assert 0.55 < place_of_the_highest_stem(browser) < 0.75, "beside an axis, at three fifths of the plot"


def place_of_the_highest_stem(browser):
    """The column of pixels with the most of the colour of ink, as a share of the width."""
    return browser.execute_script(
        "const c = document.querySelector('#changes canvas'), context = c.getContext('2d');"
        "const ink = getComputedStyle(document.documentElement).getPropertyValue('--ink').trim();"
        "const [r, g, b] = [1, 3, 5].map((at) => parseInt(ink.slice(at, at + 2), 16));"
        "const d = context.getImageData(0, 0, c.width, c.height).data; let best = 0, most = -1;"
        "for (let x = 0; x < c.width; x += 1) { let n = 0; for (let y = 0; y < c.height; y += 1) {"
        "  const at = 4 * (y * c.width + x);"
        "  n += Math.abs(d[at] - r) + Math.abs(d[at + 1] - g) + Math.abs(d[at + 2] - b) < 60 && d[at + 3] > 200; }"
        "  if (n > most) { most = n; best = x; } } return best / c.width"
    )


@pytest.mark.browser
def test_a_replay_moves_the_curves_and_keeps_the_segments(replay, browser):
    browser.get(replay.url)
    until(browser, "document.body.dataset.rows", wanted=str(ROWS))
    move = "const s = document.getElementById('place'); s.value = 3; s.dispatchEvent(new Event('input'))"
    browser.execute_script(move)
    until(browser, "document.body.dataset.rows", wanted="400")
    assert "2,000 rows in 2 segments" in text(browser, "#verdict")
    assert text(browser, "#run-length .key").startswith("rows 4")
    assert shown_charts(browser) == ["changes", "run-length", "evidence"]
