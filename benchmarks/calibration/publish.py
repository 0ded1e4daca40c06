"""The families' table in README, docs/accuracy.md and docs/method.md, written from the runs, the worst family first."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from benchmarks.calibration.problem import QUARTERS
from benchmarks.calibration.report import Scores, summary

BEGIN, END = "<!-- calibration -->\n", "<!-- /calibration -->"
COLUMNS = ("runs", "mean error", "RMS error", "RMS z", "covered", "warned")
FEWEST_LINES = 8  # of the README: the worst


def publish(root: Path, found: Scores, families: Mapping[str, str]) -> None:
    """Write the table anew in all three."""
    _write(root / "README.md", digest(found, families, "benchmarks/results/calibration.md", FEWEST_LINES))
    for page in ("accuracy.md", "method.md"):
        _write(root / "docs" / page, digest(found, families, "../benchmarks/results/calibration.md"))


def digest(found: Scores, families: Mapping[str, str], link: str, lines: int | None = None) -> str:
    """What the runs say, in a sentence and a table of so many families (all unless told otherwise)."""
    parts = {
        family: found.of(lambda name, family=family: families[name] == family)  # type: ignore[misc]
        for family in families.values()
    }
    ranked = sorted((family for family in parts if any(parts[family])), key=lambda family: -_rms_z(parts[family]))
    seeds = {(point.problem, point.seed) for point in found.points}
    per_problem = sorted(sum(problem == name for problem, _ in seeds) for name in {name for name, _ in seeds})
    silent = sum(point.is_silent_failure for point in found.points)
    silence = f"{silent or 'none'} of {len(found.points)} numbers {'is' if silent == 1 else 'are'}"
    sentence = (
        f"Errors in nats, the worst families first; z is the error over the claimed error. {_span(per_problem)} seeds "
        f"of each of {len(per_problem)} problems, `make bench-calibration FULL=1` ([all of it]({link})). Looked at "
        f"after each quarter of the rows, {silence} more than 4 errors and 0.5 nat off without a warning."
    )
    table = [f"| family | {' | '.join(COLUMNS)} |", f"|{'---|' * (1 + len(COLUMNS))}"]
    for family in ranked[:lines]:
        cells = summary(parts[family])
        table.append(f"| {family} | {' | '.join(cells[column] for column in COLUMNS)} |")
    return "\n".join([sentence, "", *table]) + "\n"


def _rms_z(found: Scores) -> float:
    ends = [point.z for point in found.points if point.quarter == QUARTERS]
    return float(np.sqrt(np.mean(np.square(ends)))) if ends else 0.0


def _span(counts: list[int]) -> str:
    return str(counts[0]) if counts[0] == counts[-1] else f"{counts[0]} to {counts[-1]}"


def _write(path: Path, text: str) -> None:
    page = path.read_text(encoding="utf-8")
    head, rest = page.split(BEGIN)
    _, tail = rest.split(END)
    path.write_text(head + BEGIN + text + END + tail, encoding="utf-8")
