"""Tables of how often error bars hold: per family, per half and per problem."""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np

from benchmarks.calibration.problem import HALVES, QUARTERS, Truth
from benchmarks.calibration.runs import DIGITS, Run

COVERED = 1.96  # errors
SILENT_ERRORS, SILENT_NATS = 4.0, 0.5  # a failure is farther off than both; it is silent where no warning is given
RIGHT_ERRORS, RIGHT_NATS = 3.0, 0.1  # a run is right within the larger of these
RESOLUTION = 10.0**-DIGITS  # nats
COLUMNS = (
    "runs",
    "mean error",
    "RMS error",
    "RMS z",
    "covered",
    "at 1/4, 1/2, 3/4",
    "warned",
    "warned though right",
    "silent failures",
    "failed",
    "seconds",
)


class Score(NamedTuple):
    """One point of one run against the truth."""

    problem: str
    seed: int
    quarter: int  # 4 is the end
    error: float
    claimed: float  # the run's error
    truth_error: float
    is_warned: bool
    seconds: float

    @property
    def z(self) -> float:
        """The error in units of what was claimed; the truth's own error and the digits kept are allowed for."""
        return self.error / float(np.sqrt(self.claimed**2 + self.truth_error**2 + RESOLUTION**2))

    @property
    def is_covered(self) -> bool:
        """Whether the error bar holds the truth."""
        return bool(abs(self.z) <= COVERED)  # not so for NaN

    @property
    def is_right(self) -> bool:
        """Whether there is nothing to warn of."""
        return bool(abs(self.z) <= RIGHT_ERRORS or abs(self.error) <= RIGHT_NATS)

    @property
    def is_silent_failure(self) -> bool:
        """Whether it is far off and does not say so."""
        is_off = not (abs(self.z) <= SILENT_ERRORS or abs(self.error) <= SILENT_NATS)
        return is_off and not self.is_warned


class Scores(NamedTuple):
    """All points that have a truth, and the runs that failed."""

    points: list[Score]
    failures: list[Run]

    def of(self, wanted: Callable[[str], bool]) -> "Scores":
        """Those of some problems."""
        return Scores(
            [point for point in self.points if wanted(point.problem)],
            [done for done in self.failures if wanted(done.problem)],
        )


def scores(runs: Iterable[Run], truths: Mapping[str, Mapping[int, Truth]]) -> Scores:
    """Compare runs with the truths that are known."""
    points, failures = [], []
    for done in runs:
        known = truths.get(done.problem, {})
        if done.failure or any(np.isnan(point.log_evidence) and point.warning for point in done.points):
            failures.append(done)
            continue
        total = max(known, default=1)
        for point in done.points:
            truth = known.get(point.rows)
            if truth is None or not truth.is_sound:
                continue
            quarter = round(QUARTERS * point.rows / total)
            error, is_warned = point.log_evidence - truth.log_evidence, bool(point.warning)
            points.append(
                Score(
                    done.problem,
                    done.seed,
                    quarter,
                    error,
                    point.standard_error,
                    truth.error,
                    is_warned,
                    done.seconds,
                )
            )
    return Scores(points, failures)


def report(found: Scores, families: Mapping[str, str], halves: Mapping[str, str], method: str, command: str) -> str:
    """The page: `families` and `halves` by the names of the problems."""
    names = {point.problem for point in found.points} | {done.problem for done in found.failures}
    ordered = [name for name in families if name in names]
    by_half = [
        (half, found.of(lambda name, half=half: halves[name] == half))  # type: ignore[misc]
        for half in HALVES
    ]
    by_family = [
        (family, found.of(lambda name, family=family: families[name] == family))  # type: ignore[misc]
        for family in dict.fromkeys(families[name] for name in ordered)
    ]
    by_problem = [
        (f"{name} ({halves[name]})", found.of(lambda other, name=name: other == name))  # type: ignore[misc]
        for name in ordered
    ]
    families_of_report = [(family, part.of(lambda name: halves[name] == HALVES[1])) for family, part in by_family]
    parts = [
        f"# Calibration: {method}",
        "",
        f"Errors are in nats against truths that were found without the library (`calibration/truths.json`). z is the "
        f"error over the claimed error, the truth's own error allowed for; covered: |z| ≤ {COVERED}. A silent failure "
        f"is a number, at the end or on the way, more than {SILENT_ERRORS:.0f} errors and {SILENT_NATS} nat off "
        "without a warning. Right: within "
        f"{RIGHT_ERRORS:.0f} errors or {RIGHT_NATS} nat. Settings were tried out on problems of both halves "
        "so far, most of them of the tuning half. "
        f"Printed by `{command}`.",
        "",
        *_table("half", [*by_half, ("all", found)]),
        "",
        "## Families",
        "",
        *_table("family", by_family),
        "",
        "## Families, report half alone",
        "",
        *_table("family", families_of_report),
        "",
        "## Problems",
        "",
        *_table("problem", by_problem),
    ]
    return "\n".join(parts) + "\n"


def _table(title: str, parts: list[tuple[str, Scores]]) -> list[str]:
    lines = [f"| {title} | {' | '.join(COLUMNS)} |", f"|{'---|' * (1 + len(COLUMNS))}"]
    return lines + [f"| {name} | {' | '.join(summary(part).values())} |" for name, part in parts if any(part)]


def summary(found: Scores) -> dict[str, str]:
    """The cells of one line of a table."""
    ends = [point for point in found.points if point.quarter == QUARTERS]
    runs = len(ends) + len(found.failures)
    if not ends:
        return dict.fromkeys(COLUMNS, "") | {"runs": str(runs), "failed": str(len(found.failures))}
    errors, z = np.array([point.error for point in ends]), np.array([point.z for point in ends])
    right = [point for point in ends if point.is_right]
    on_the_way = ([point for point in found.points if point.quarter == quarter] for quarter in range(1, QUARTERS))
    values = (
        str(runs),
        f"{errors.mean():+.2f}",
        f"{np.sqrt(np.mean(errors**2)):.2f}",
        f"{np.sqrt(np.mean(z**2)):.1f}",
        _share([point.is_covered for point in ends], runs),
        ", ".join(_share([point.is_covered for point in some]) for some in on_the_way),
        _share([point.is_warned for point in ends]),
        _share([point.is_warned for point in right]),
        str(sum(point.is_silent_failure for point in found.points)),
        str(len(found.failures)),
        f"{np.median([point.seconds for point in ends]):.1f}",
    )
    return dict(zip(COLUMNS, values, strict=True))


def _share(which: list[bool], total: int | None = None) -> str:
    """In percent, of all runs where their number is given: a failed one is not covered."""
    count = len(which) if total is None else total
    return f"{sum(which) / count:.0%}" if count else "-"
