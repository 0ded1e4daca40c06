"""A small table of runs, made up."""

from benchmarks.peers.lines import Line
from benchmarks.peers.methods import DEFAULT
from benchmarks.peers.outcome import COMPLETE, NOT_BEGUN, OUT_OF_TIME, TOO_SLOW, Outcome
from benchmarks.peers.task import Task

LIMIT = 600.0


def runs(problem, method, rows, seconds, error=0.04):
    """Complete ones, one for each number of seconds."""
    return [
        Line(
            Task(problem, method, rows, seed),
            Outcome(COMPLETE, "", -100.0 + error, -100.0, 0.2, each, 1.5, 1000, None, 300.0, LIMIT),
        )
        for seed, each in enumerate(seconds)
    ]


def too_slow(problem, method, rows):
    """Out of time at these rows, and therefore not begun with ten times as many."""
    reason = f"{OUT_OF_TIME} at {rows:,} rows"
    return [
        Line(Task(problem, method, rows, 0), Outcome(OUT_OF_TIME, seconds=LIMIT, limit=LIMIT)),
        Line(Task(problem, method, 10 * rows, 0), Outcome(NOT_BEGUN, reason, limit=LIMIT)),
    ]


def nearly_too_slow(problem, method, rows):
    """In time at these rows, but not begun with ten times as many."""
    reason = f"{TOO_SLOW}: 250 s at {rows:,} rows"
    return [
        *runs(problem, method, rows, [250.0]),
        Line(Task(problem, method, 10 * rows, 0), Outcome(NOT_BEGUN, reason, limit=LIMIT)),
    ]


def ours(problem, rows, seconds=(1.0, 2.0, 30.0), error=0.04):
    """Runs of the default."""
    return runs(problem, DEFAULT, rows, seconds, error)
