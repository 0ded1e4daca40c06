"""The default beside other libraries.

python -m benchmarks.peers            # quick: linear regression, 1e4 rows, at most 10 minutes; into bench-output/
python -m benchmarks.peers --full     # all problems to 1e6 rows: hours; goes on where it was stopped; committed
python -m benchmarks.peers --redraw   # page and figures from the committed table

Problems, methods, rows and the time limit can be chosen. Of the full version, a choice only makes these runs.
"""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from benchmarks.peers import drawing, lines, runner
from benchmarks.peers.cache import Cache
from benchmarks.peers.lines import Line
from benchmarks.peers.methods import METHODS
from benchmarks.peers.report import report
from benchmarks.peers.settings import FULL, QUICK, Settings
from benchmarks.peers.task import ROOT
from benchmarks.problems import PROBLEMS

RESULTS = ROOT / "benchmarks" / "results" / "peers"  # of the full version; committed
OUTPUT = ROOT / "bench-output"  # of the quick one
TABLE, PAGE = "peers.csv", "README.md"
INTERRUPTED = 130  # as shells have it


def measure(settings: Settings, methods: list[str], folder: Path) -> list[Line]:
    """Make what is missing, and say of each run how it ended."""
    found = []
    for task, outcome in runner.run(settings, Cache(folder / "runs"), methods):
        found.append(Line(task, outcome))
        print(f"{task}: {outcome.ending}, {outcome.seconds:.2f} s, error {found[-1].error:+.2f}", flush=True)
    return found


def publish(found: list[Line], settings: Settings, command: str, folder: Path) -> None:
    """Write the figures and the page."""
    figures = drawing.draw(lines.cells(found), folder, settings.limit)
    (folder / PAGE).write_text(report(found, settings, command, figures), encoding="utf-8")
    print(f"The report is {folder / PAGE}.")


def main(arguments: list[str] | None = None) -> int:
    """Measure what is missing, then report."""
    options = _options(arguments)
    is_full = options.full or options.redraw
    version, folder = (FULL, RESULTS) if is_full else (QUICK, OUTPUT)
    settings = _chosen(version, options)
    command = "make bench FULL=1" if is_full else "make bench"
    folder.mkdir(parents=True, exist_ok=True)
    if not options.redraw:
        try:
            found = measure(settings, options.method or list(METHODS), folder)
        except KeyboardInterrupt:
            print("Interrupted. The same command continues from here.", file=sys.stderr)
            return INTERRUPTED
        if options.full and (options.method or options.problem or options.rows or options.limit):
            return 0
        lines.save(folder / TABLE, found)
    publish(lines.load(folder / TABLE), settings, command, folder)
    return 0


def _chosen(settings: Settings, options: argparse.Namespace) -> Settings:
    return replace(
        settings,
        problems=tuple(options.problem or settings.problems),
        rows=tuple(sorted(options.rows or settings.rows)),
        limit=options.limit or settings.limit,
    )


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.peers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--full", action="store_true", help="as many rows and as much time as in the documentation")
    parser.add_argument("--redraw", action="store_true", help="run nothing; tables and figures from the committed runs")
    parser.add_argument("--method", choices=list(METHODS), action="append", help="only this one; may be repeated")
    parser.add_argument("--problem", choices=list(PROBLEMS), action="append", help="only this one; may be repeated")
    parser.add_argument("--rows", type=int, action="append", help="only so many; may be repeated")
    parser.add_argument("--limit", type=float, help="seconds for each run")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
