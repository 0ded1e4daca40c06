"""Where does the time of the default go? Its parts, on the three problems.

    python -m benchmarks.hotspots            # all three, some minutes
    python -m benchmarks.hotspots linear     # only this one, printed

By Python's own profiler, one core, in a second run, when everything is compiled. Writes results/hotspots.md.
"""

import os

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import cProfile
import pstats
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import sgais
from benchmarks.problems import PROBLEMS
from sgais.estimators.default import data_change, estimator, mode_bank, outright
from sgais.estimators.default.phases import exact_phase, quadratic_moves, quadratic_phase, quadratic_weighing
from sgais.history import RowView

ROWS = 1_000_000
NAMES = ("linear", "logistic", "mixture")
REPORT = Path(__file__).parent / "results" / "hotspots.md"

Functions = tuple[Callable[..., Any], ...]
PARTS: dict[str, Functions] = {  # none of which calls another
    "draws from the prior": (estimator.init,),
    "exact phase: weighing all particles by few rows": (exact_phase.weigh,),
    "exact phase: moves on all rows": (exact_phase.move,),
    "exact phase: log Z outright, by fresh particles": (outright.sample,),
    "between: search for modes, first surrogates": (
        mode_bank.look_for_modes,
        mode_bank.worth_a_surrogate,
        quadratic_phase.start,
        quadratic_phase.joined,
    ),
    "quadratic phase: each row added to the surrogates": (quadratic_phase.add,),
    "quadratic phase: weighing by samples of rows": (quadratic_weighing.weigh,),
    "quadratic phase: moves on mini-batches": (quadratic_moves.move,),
    "quadratic phase: new anchors, by all rows": (quadratic_phase.reanchor,),
    "quadratic phase: log Z outright, by importance sampling": (quadratic_phase.sampled,),
    "quadratic phase: search for modes": (mode_bank.new_modes, quadratic_phase.with_modes),
    "looking for changes": (data_change.has_changed,),
}
GATHERS: Functions = (RowView.between, RowView.sample, RowView.draw, RowView.take, RowView.weighted_sample)


class Spent(NamedTuple):
    """Seconds within some functions, and how often they were called."""

    seconds: float
    calls: int


class Profile:
    """What a run spent its time on."""

    def __init__(self, run: Callable[[], Any]) -> None:
        profiler = cProfile.Profile()
        profiler.runcall(run)
        stats: Any = pstats.Stats(profiler)
        self.seconds: float = stats.total_tt
        self._lines: dict[tuple[str, int, str], tuple[int, int, float, float, Any]] = stats.stats

    def within(self, functions: Functions) -> Spent:
        """In these functions, and in what they call."""
        codes = [function.__code__ for function in functions]
        keys = [(code.co_filename, code.co_firstlineno, code.co_name) for code in codes]
        found = [self._lines[key] for key in keys if key in self._lines]
        return Spent(sum(line[3] for line in found), sum(line[0] for line in found))


def section(problem: str) -> list[str]:
    """Profile a problem and put it into a table."""
    model, simulate, _ = PROBLEMS[problem]
    data = dict(simulate(ROWS).data)

    def run() -> None:
        sgais.estimate(model, data)

    run()  # compiles
    profile = Profile(run)
    parts = {name: profile.within(functions) for name, functions in PARTS.items()}
    rest = profile.seconds - sum(part.seconds for part in parts.values())
    parts["the rest: chunks, records, resampling"] = Spent(rest, 0)
    gathers = profile.within(GATHERS)
    return [
        f"## {problem.capitalize()}: {profile.seconds:.2f} s",
        "",
        "| part | calls | seconds | share |",
        "|---|---|---|---|",
        *(
            f"| {name} | {calls or ''} | {seconds:.3f} | {seconds / profile.seconds:.0%} |"
            for name, (seconds, calls) in parts.items()
            if seconds > 0
        ),
        "",
        f"Of all this, {gathers.seconds:.3f} s went into reading rows back from the past ({gathers.calls} times).",
        "",
    ]


def main(names: list[str]) -> None:
    """Measure and report."""
    parts = [
        "# Where the time goes",
        "",
        f"`sgais.estimate` with its defaults on {ROWS:,} rows in memory, by Python's profiler, which makes it a little "
        "slower; one core, nothing left to compile. Printed by `make bench-hotspots`.",
        "",
        *(line for problem in names or NAMES for line in section(problem)),
    ]
    if not names:
        REPORT.write_text("\n".join(parts), encoding="utf-8")
    print("\n".join(parts))


if __name__ == "__main__":
    main(sys.argv[1:])
