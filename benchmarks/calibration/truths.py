"""What log Z is: found once by independent means, kept in a table.

    python -m benchmarks.calibration.truths                 # what is missing
    python -m benchmarks.calibration.truths --again NAME    # one problem or family anew
    python -m benchmarks.calibration.truths --list          # the table in words

Where a problem has two methods they must agree; the one with the smaller error is kept, and the other is noted.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from benchmarks.calibration.problem import Problem, Truth, head, length, plan, rows_sum
from benchmarks.calibration.suite import chosen, rows_of, suite

TABLE = Path(__file__).parents[1] / "results" / "calibration" / "truths.json"
Table: TypeAlias = dict[str, dict[int, Truth]]  # by problem and rows
GOOD_ERROR = 0.03  # nats; a first method that reaches it needs no second one before the end
FARTHEST = 4.0  # errors between two methods that agree
ROUNDING = 0.01  # nats


def load(table: Path = TABLE) -> Table:
    """All truths that are known, those of twins included."""
    if not table.exists():
        return {}
    found = json.loads(table.read_text(encoding="utf-8"))
    known = {name: {int(rows): Truth(**line) for rows, line in lines.items()} for name, lines in found.items()}
    twins = {problem.name: problem.same_truth_as for problem in suite().values() if problem.same_truth_as}
    return known | {name: known[twin] for name, twin in twins.items() if twin in known}


def save(known: Table, table: Path = TABLE) -> None:
    """Write the table, problems in the order of the suite."""
    lines = {
        name: {str(rows): _in_short(truth) for rows, truth in sorted(known[name].items())}
        for name, problem in suite().items()
        if name in known and not problem.same_truth_as
    }
    table.parent.mkdir(parents=True, exist_ok=True)
    table.write_text(json.dumps(lines, indent=1) + "\n", encoding="utf-8")


def _in_short(truth: Truth) -> dict[str, Any]:
    values = truth._asdict()
    total = None if truth.rows_sum is None else float(f"{truth.rows_sum:.7g}")
    error = float(f"{truth.error:.2g}")
    return values | {"log_evidence": round(truth.log_evidence, 5), "error": error, "rows_sum": total}


def stale(problem: Problem, known: dict[int, Truth]) -> list[int]:
    """The numbers of rows whose truth was found for other rows than this machine makes."""
    rows = rows_of(problem.name)
    return [count for count, truth in known.items() if not truth.is_of(head(rows, count))]


def find(problem: Problem, num_rows: int) -> Truth:
    """The truth of the first rows of a problem."""
    assert problem.truth is not None
    rows = rows_of(problem.name)
    first = problem.truth(head(rows, num_rows))
    if problem.check is None or (num_rows < length(rows) and first.is_sound and first.error < GOOD_ERROR):
        return first
    return settle(first, problem.check(head(rows, num_rows)))


def settle(first: Truth, second: Truth) -> Truth:
    """The better one of two, with a note of the other; sound if they agree."""
    apart = abs(first.log_evidence - second.log_evidence)
    agree = apart < FARTHEST * np.hypot(first.error, second.error) + ROUNDING
    best, other = sorted((first, second), key=lambda truth: (not truth.is_sound, truth.error))
    difference, doubt = other.log_evidence - best.log_evidence, "" if other.is_sound else " (unsound)"
    note = f"{best.note}; {other.method}{doubt}: {difference:+.3f} ± {other.error:.2g} from it"
    return best._replace(note=note, is_sound=best.is_sound and bool(agree or not other.is_sound))


def main(arguments: list[str] | None = None) -> None:
    options = _options(arguments)
    for problem in chosen(options.names):
        if problem.truth is None or options.list:
            continue
        known = {} if options.again else load().get(problem.name, {})
        checkpoints = plan(length(rows_of(problem.name))).checkpoints
        for num_rows in checkpoints[-1:] if problem.only_at_end else reversed(checkpoints):
            if num_rows in known:
                continue
            start = time.perf_counter()
            total = rows_sum(head(rows_of(problem.name), num_rows))
            known[num_rows] = find(problem, num_rows)._replace(rows_sum=total)
            print(
                f"{time.perf_counter() - start:6.1f} s, {_in_words(problem.name, num_rows, known[num_rows])}",
                flush=True,
            )
            save(load() | {problem.name: known})
    if options.list:
        for name, lines in load().items():
            for num_rows, truth in lines.items():
                print(_in_words(name, num_rows, truth))


def _in_words(name: str, num_rows: int, truth: Truth) -> str:
    doubt = "" if truth.is_sound else "UNSOUND: "
    return f"{doubt}{name}, {num_rows} rows: {truth.log_evidence:.3f} ± {truth.error:.4f}, {truth.method} {truth.note}"


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.calibration.truths",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", help="problems or families; all if omitted")
    parser.add_argument("--again", action="store_true", help="even what is known")
    parser.add_argument("--list", action="store_true", help="show what is known")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
