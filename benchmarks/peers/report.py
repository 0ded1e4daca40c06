"""The tables in Markdown."""

import math
from pathlib import Path

from benchmarks.peers.lines import Cell, Line, cells
from benchmarks.peers.outcome import COMPLETE, NOT_BEGUN, OUT_OF_TIME
from benchmarks.peers.settings import Settings
from benchmarks.peers.speedups import ASKED, LARGEST_ERROR, Asked, Speedup, holds, speedup

NOTHING = 0.0  # the factor where none was asked for


def report(lines: list[Line], settings: Settings, command: str, figures: list[Path]) -> str:
    """The whole page.

    Args:
        lines: All runs.
        settings: Of the version that they are of.
        command: What prints this page.
        figures: Beside the page.
    """
    parts = [
        "# Beside other libraries",
        "",
        f"Printed by `{command}`; every run is a line of `peers.csv`. The same rows for all, each run alone in a "
        "process of its own, one core, one thread. Seconds are without compilation; medians of "
        f"{settings.seeds} runs. A run that takes more than {settings.slow:.0f} s is not repeated, one that takes "
        f"{settings.limit:.0f} s is killed, and data with more rows are then not begun. Errors are against the exact "
        "log Z (linear) or Laplace with importance sampling.",
        "",
        "## The default against the fastest peer that is right",
        "",
        *_speedups(lines, settings),
        "",
        "## All runs",
        "",
        *_runs(cells(lines)),
        "",
        "## Figures",
        "",
        "Medians of runs that came to their end. Of errors against seconds, a line leads from fewer rows to more, and "
        f"the dotted line is at {LARGEST_ERROR:g} nats; of seconds against rows, it is at the time limit.",
        "",
        *(f"![{path.stem}]({path.name})" for path in figures),
    ]
    return "\n".join(parts) + "\n"


def _speedups(lines: list[Line], settings: Settings) -> list[str]:
    """What was asked for first, then all other sizes."""
    asked = [each for each in ASKED if each.rows in settings.rows]
    others = [Asked(problem, rows, rows, NOTHING) for problem in settings.problems for rows in settings.rows]
    asked += [each for each in others if each[:3] not in {known[:3] for known in asked}]
    table = [
        f"Right is within {LARGEST_ERROR:g} nats.",
        "",
        "| problem | rows | seconds | error (nats) | fastest peer | on rows | it needs | ratio | asked | holds |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    return table + [_speedup(each, speedup(lines, *each[:3])) for each in asked]


def _speedup(asked: Asked, measured: Speedup | None) -> str:
    start, verdict = f"| {asked.problem} | {asked.rows:,} |", "| |"
    if asked.factor != NOTHING:
        verdict = f"{asked.factor:g} | {'yes' if holds(asked, measured) else 'no'} |"
    if measured is None:
        return f"{start} not measured | | | {asked.peer_rows:,} | | | {verdict}"
    bound = "at least " if measured.is_bound else ""
    peer = measured.peer or "none in time"
    return (
        f"{start} {measured.ours:.2f} | {measured.error:.2f} | {peer} | {asked.peer_rows:,} "
        f"| {bound}{measured.peer_seconds:.1f} | {bound}{measured.ratio:.1f} | {verdict}"
    )


def _runs(found: list[Cell]) -> list[str]:
    return [
        "| problem | rows | method | runs | seconds | compilation | error (nats) | claimed | likelihoods | gradients "
        "| peak memory (MB) |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
        *(_run(cell) for cell in sorted(found, key=lambda cell: (cell.problem, cell.rows))),
    ]


def _run(cell: Cell) -> str:
    start = f"| {cell.problem} | {cell.rows:,} | {cell.method} | {len(cell.lines)} |"
    if not cell.is_complete:
        return f"{start} {_ending(cell)} | | | | | | {_number(cell.median('peak_megabytes'), '.0f')} |"
    numbers = [
        f"{cell.seconds:.2f}",
        f"{cell.median('compile_seconds'):.1f}",
        f"{cell.error:.2f}",
        _number(cell.median("standard_error"), ".2f"),
        _number(cell.median("likelihoods"), ",.0f"),
        _number(cell.median("gradients"), ",.0f"),
        f"{cell.median('peak_megabytes'):.0f}",
    ]
    return f"{start} {' | '.join(numbers)} |"


def _ending(cell: Cell) -> str:
    outcome = next(line.outcome for line in cell.lines if line.outcome.ending != COMPLETE)
    if outcome.ending == OUT_OF_TIME:
        return f"out of time ({outcome.limit:.0f} s)"
    return f"not begun: {outcome.words}" if outcome.ending == NOT_BEGUN else outcome.ending


def _number(value: float, form: str) -> str:
    return "" if math.isnan(value) else format(value, form)
