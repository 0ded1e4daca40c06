"""The view fits its terminal: looked at as the terminal would get it."""

import io

import pytest
from rich.console import Console

from sgais.cli.output.live import LineView, LiveView, view_of
from sgais.monitoring.alarms import ModelAlarm
from sgais.monitoring.snapshot import Snapshot, alone

LONG_NAME = "a model with a name that is far too long for any table, and then some"


def standing(probability, warning=""):
    return alone(None)._replace(log_evidence=-3.2e6, standard_error=1.5, probability=probability, warning=warning)


def snapshot(num_rows, models=3, alarms=0):
    standings = {f"{LONG_NAME} {number}": standing(1.0 / models) for number in range(models)}
    found = [ModelAlarm(LONG_NAME, 1000 * number + 200, 1000 * number, "surprise", -1.0) for number in range(alarms)]
    return Snapshot(num_rows, 3, standings, {}, found, is_comparison=True)


def drawn(width, height, shown, total_rows):
    console = Console(file=io.StringIO(), width=width, height=height, force_terminal=True, color_system=None)
    view = LiveView(console, f"comparing {LONG_NAME}", total_rows)
    view.show(snapshot(500))
    view.show(shown)
    with console.capture() as capture:
        console.print(view._draw())
    return capture.get().splitlines()


@pytest.mark.parametrize("width", [60, 80, 160])
@pytest.mark.parametrize("total_rows", [None, 123_456_789])
def test_nothing_wraps(width, total_rows):
    lines = drawn(width, 24, snapshot(98_765_432, alarms=9), total_rows)
    assert all(len(line) <= width for line in lines)
    assert len(lines) == 1 + 1 + 1 + 3 + 4 + 1  # title, progress, header, models, the latest alarms, the cursor
    assert "98,765,432" in lines[1]
    assert "row 8,000" in lines[-2]


def test_before_the_first_chunk_something_moves(monkeypatch):
    console = Console(file=io.StringIO(), width=80, height=24, force_terminal=True, color_system=None)
    view = LiveView(console, f"comparing {LONG_NAME}", 1000)
    with console.capture() as capture:
        console.print(view._draw())
        monkeypatch.setattr("sgais.cli.output.live.time.monotonic", lambda: view._begun + 75)
        console.print(view._draw())
    lines = capture.get().splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert [line.split()[-1] for line in lines if line.startswith("compiling")] == ["0:00:00", "0:01:15"]


def test_nothing_is_higher_than_the_terminal():
    assert len(drawn(80, 24, snapshot(1000, models=50, alarms=9), 2000)) <= 24


def test_a_wide_terminal_shows_bayes_factors():
    assert "log Bayes factor" in "".join(drawn(160, 24, snapshot(1000), None))
    assert "log Bayes factor" not in "".join(drawn(80, 24, snapshot(1000), None))


def test_a_log_gets_a_line_now_and_then_and_each_alarm_once():
    file = io.StringIO()
    view = view_of(Console(file=file, width=80), "a run", 1000)
    assert isinstance(view, LineView)
    with view:
        for number in range(1, 101):
            view.show(snapshot(10 * number, alarms=2 if number > 50 else 0))
    lines = file.getvalue().splitlines()
    assert sum("log Z per row" in line for line in lines) == 1
    assert [line.startswith("ALARM") for line in lines].count(True) == 2


def test_no_log_z_without_its_warning():
    standings = {f"model {number}": standing(0.25, "" if number else "gone astray") for number in range(4)}
    warned = Snapshot(1000, 0, standings, {}, [], is_comparison=True)
    file = io.StringIO()
    with view_of(Console(file=file, width=200), "a run", 1000) as view:
        view.show(warned)
    assert "-3200.0000 ± 0.0015 !  model 0 0.250  BEWARE: gone astray" in file.getvalue()
    shown = drawn(80, 24, warned, None)
    assert [" ! " in line for line in shown if line.startswith("model ")] == [False, True, False, False, False]
    assert "BEWARE of model 0: gone astray." in [line.strip() for line in shown]


def test_many_warnings_leave_room_for_the_models():
    standings = {f"model {number}": standing(0.02, f"reason {number}") for number in range(50)}
    warned = Snapshot(1000, 0, standings, {}, [], is_comparison=True)
    shown = drawn(80, 24, warned, 2000)
    assert len(shown) <= 24
    assert sum("BEWARE of model" in line for line in shown) == 3
