"""The default beside other libraries.

python -m benchmarks.peers            # quick: 1e4 rows, at most 10 minutes on one core, into bench-output/
python -m benchmarks.peers --full     # to 1e6 rows: hours; goes on where it was stopped; into benchmarks/results/peers/
python -m benchmarks.peers --redraw   # tables and figures from the committed runs
"""

import argparse
import sys
from pathlib import Path

from benchmarks.peers import drawing, lines, runner
from benchmarks.peers.cache import Cache
from benchmarks.peers.lines import Line
from benchmarks.peers.methods import METHODS
from benchmarks.peers.report import report
from benchmarks.peers.settings import FULL, QUICK, Settings
from benchmarks.peers.task import ROOT

RESULTS = ROOT / "benchmarks" / "results" / "peers"  # of the full version; committed but for the runs
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
    settings, folder = (FULL, RESULTS) if is_full else (QUICK, OUTPUT)
    command = "make bench FULL=1" if is_full else "make bench"
    folder.mkdir(parents=True, exist_ok=True)
    if not options.redraw:
        try:
            found = measure(settings, options.only or list(METHODS), folder)
        except KeyboardInterrupt:
            print("Interrupted. The same command goes on from here.", file=sys.stderr)
            return INTERRUPTED
        if options.only:
            return 0
        lines.save(folder / TABLE, found)
    publish(lines.load(folder / TABLE), settings, command, folder)
    return 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.peers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--full", action="store_true", help="as many rows and as much time as in the documentation")
    parser.add_argument("--redraw", action="store_true", help="run nothing; tables and figures from the committed runs")
    parser.add_argument("--only", choices=list(METHODS), action="append", help="only this method's runs, no report")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
