"""Reproduce the paper.

python -m experiments.paper                 # quick: N to 1e5, at most 20 minutes on 2 cores
python -m experiments.paper --version full  # as published: hours; goes on where it was stopped
python -m experiments.paper --redraw        # figures and report from the committed tables
"""

import argparse
import sys
from pathlib import Path

from experiments.paper import accuracy_and_speed, appendix_a, data_sets, report, runner, sensitivity, shift, tables
from experiments.paper.cache import Cache
from experiments.paper.settings import FULL, QUICK, VERSIONS, Settings
from experiments.paper.task import Task, without_repetitions

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "experiments" / "paper" / "results"  # of the full version, its runs in it; committed
REPORT = ROOT / "docs" / "paper"  # of the full version; committed
OUTPUT = ROOT / "paper-output"  # of all other versions
EXPERIMENTS = {each.TABLE: each for each in (accuracy_and_speed, data_sets, shift, sensitivity, appendix_a)}
INTERRUPTED = 130  # as shells have it


def tasks(settings: Settings, names: list[str]) -> list[Task]:
    """All runs of these experiments."""
    return [task for name in names for task in EXPERIMENTS[name].tasks(settings)]


def gather(settings: Settings, names: list[str], cache: Cache, results: Path) -> None:
    """Make the tables of these experiments anew."""
    for name in names:
        tables.write(results, name, EXPERIMENTS[name].gather(settings, cache))
    tables.write_origin(results, settings.name, settings.limit, tasks(settings, list(EXPERIMENTS)), cache)


def main(arguments: list[str] | None = None) -> int:
    """Run what is missing, make the tables, draw and report."""
    options = _options(arguments)
    settings: Settings = VERSIONS[options.version]
    is_committed = settings is FULL or options.redraw
    results = options.results or (RESULTS if is_committed else OUTPUT / "tables")
    folder = options.report or (REPORT if is_committed else OUTPUT)
    if not options.redraw:
        names = options.only or list(EXPERIMENTS)
        cache = Cache(options.runs or (RESULTS if is_committed else OUTPUT) / "runs")
        asked = without_repetitions(tasks(settings, names))
        try:
            runner.run([task for task in asked if not (options.untimed and task.timed)], cache.folder, settings.limit)
        except KeyboardInterrupt:
            print("Interrupted. The same command continues from here.", file=sys.stderr)
            return INTERRUPTED
        gather(settings, names, cache, results)
    report.write(results, folder)
    print(f"The report is {folder / 'README.md'} and {folder / 'report.html'}.")
    return 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.paper",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", choices=sorted(VERSIONS), default=QUICK.name, help="how much is run")
    parser.add_argument("--redraw", action="store_true", help="run nothing; draw and report from the tables")
    parser.add_argument("--only", choices=sorted(EXPERIMENTS), action="append", help="only this experiment's runs")
    parser.add_argument("--untimed", action="store_true", help="only runs whose time does not matter")
    parser.add_argument("--runs", type=Path, help="folder of cached runs")
    parser.add_argument("--results", type=Path, help="folder of tables")
    parser.add_argument("--report", type=Path, help="folder of figures and report")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
