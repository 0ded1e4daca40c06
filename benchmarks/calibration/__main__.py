"""Are the error bars right? Many problems whose log Z is known, and how often the error bars hold it.

python -m benchmarks.calibration                       # quick: 3 seeds of the short problems; into bench-output/
python -m benchmarks.calibration --full                # 20 seeds of all; goes on where it stopped; committed
python -m benchmarks.calibration --full --part 1/2     # the first of two processes that share the work
python -m benchmarks.calibration --method laplace --only "mixture, small"
python -m benchmarks.calibration --full --redraw       # the tables from the committed runs
"""

import argparse
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import jax

from benchmarks.calibration.problem import HALVES, Problem, Truth
from benchmarks.calibration.publish import publish
from benchmarks.calibration.report import report, scores
from benchmarks.calibration.runs import METHODS, SGAIS, Run, Store, run
from benchmarks.calibration.suite import chosen, halves, suite
from benchmarks.calibration.truths import load, stale

ROOT = Path(__file__).parents[2]
RESULTS, OUTPUT = ROOT / "benchmarks" / "results", ROOT / "bench-output"
QUICK_SEEDS, FULL_SEEDS = 3, 20
INTERRUPTED = 130  # as shells have it


def main(arguments: list[str] | None = None) -> int:
    """Make what is missing, then report."""
    options = _options(arguments)
    base = RESULTS if options.full else OUTPUT
    store = Store(base / "calibration" / "runs", options.method)
    problems = _problems(options)
    seeds = range(options.seeds or (FULL_SEEDS if options.full else QUICK_SEEDS))
    if options.again:
        for problem in problems:
            store.path(problem.name).unlink(missing_ok=True)
    if not options.redraw:
        try:
            _measure(problems, store, seeds)
        except KeyboardInterrupt:
            print("Interrupted. The same command continues from here.", file=sys.stderr)
            return INTERRUPTED
    reported = list(suite().values()) if options.full and not options.part else problems
    found = scores((done for problem in reported for done in store.read(problem.name)), load())
    families = {problem.name: problem.family for problem in suite().values()}
    page = report(found, families, halves(), options.method, _command(options))
    print(page)
    if not options.part:
        path = base / ("calibration.md" if options.method == SGAIS else f"calibration-{options.method}.md")
        path.write_text(page, encoding="utf-8")
        if options.full and options.method == SGAIS:
            publish(ROOT, found, families)
        print(f"The report is {path}.")
    return 0


def _problems(options: argparse.Namespace) -> list[Problem]:
    found = [problem for problem in chosen(options.only) if options.full or options.only or problem.is_quick]
    found = [problem for problem in found if not options.half or halves()[problem.name] == options.half]
    if options.part:
        part, parts = (int(number) for number in options.part.split("/"))
        found = found[part - 1 :: parts]
    return found


def _measure(problems: list[Problem], store: Store, seeds: range) -> None:
    truths = load()
    for problem in problems:
        if stale(problem, truths.get(problem.name, {})):
            cure = f'Find them again: python -m benchmarks.calibration.truths --again "{problem.name}"'
            raise SystemExit(f"The truths of {problem.name!r} are of other rows than this machine makes. {cure}")
        known = {done.seed for done in store.read(problem.name)}
        for seed in seeds:
            if seed not in known:
                done = run(problem, store.method, seed)
                store.append(done)
                print("; ".join(_in_words(done, truths.get(problem.name, {}))), flush=True)
        jax.clear_caches()  # type: ignore[no-untyped-call]  # each compiled program holds memory maps, of which a process has only so many


def _in_words(done: Run, truths: Mapping[int, Truth]) -> Iterator[str]:
    yield f"{done.problem}, seed {done.seed}, {done.seconds:.1f} s"
    if done.failure:
        yield f"FAILED: {done.failure}"
    for point in scores([done], {done.problem: truths}).points:
        silent = " SILENT" if point.is_silent_failure else ""
        yield f"{point.error:+.2f} ± {point.claimed:.2f}{' warned' if point.is_warned else silent}"


def _command(options: argparse.Namespace) -> str:
    method = "" if options.method == SGAIS else f" METHOD={options.method}"
    return f"make bench-calibration{' FULL=1' if options.full else ''}{method}"


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.calibration",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    version = parser.add_mutually_exclusive_group()
    version.add_argument("--quick", action="store_true", help="few seeds of short problems (the default)")
    version.add_argument("--full", action="store_true", help="all problems, into the committed results")
    parser.add_argument("--method", choices=METHODS, default=SGAIS)
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these problems or families")
    parser.add_argument("--half", choices=HALVES, help="only this half of the problems")
    parser.add_argument("--seeds", type=int, help="seeds 0 to N - 1")
    parser.add_argument("--part", help="i/k: the i-th of k processes that share the work; writes no page")
    parser.add_argument("--again", action="store_true", help="forget the runs of these problems first")
    parser.add_argument("--redraw", action="store_true", help="run nothing; the page from the runs that are kept")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
