"""All problems by name, each in one of two halves."""

from functools import cache
from typing import Any

from benchmarks.calibration.families import (
    auto_regression,
    awkward,
    changing,
    conjugate,
    formulas,
    glm,
    grouped,
    mixtures,
    network,
    regression,
    student,
)
from benchmarks.calibration.problem import HALVES, Problem, Rows

MODULES = (
    conjugate,
    regression,
    auto_regression,
    glm,
    formulas,
    student,
    grouped,
    mixtures,
    network,
    changing,
    awkward,
)


@cache
def suite() -> dict[str, Problem]:
    """Every problem by its name, family after family."""
    found = [problem for module in MODULES for problem in module.problems()]
    names = {problem.name: problem for problem in found}
    assert len(names) == len(found), "names must differ"
    return names


@cache
def halves() -> dict[str, str]:
    """The half of each problem: they take turns within a family, so that both halves have every family."""
    turns: dict[str, int] = {}
    found = {}
    for problem in suite().values():
        turn = turns.get(problem.family, 0)
        found[problem.name] = HALVES[turn % len(HALVES)]
        turns[problem.family] = turn + 1
    return found


@cache
def model_of(name: str) -> Any:
    """The model of a problem, built once in a process."""
    return suite()[name].model()


@cache
def rows_of(name: str) -> Rows:
    """The rows of a problem, made once in a process."""
    return suite()[name].rows()


def chosen(names: list[str]) -> list[Problem]:
    """The problems with these names or of these families; all if there are none."""
    unknown = [name for name in names if not any(name in (one.name, one.family) for one in suite().values())]
    if unknown:
        known = sorted({problem.family for problem in suite().values()})
        raise SystemExit(f"no problem or family {unknown[0]!r}; families: {', '.join(known)}")
    return [problem for problem in suite().values() if not names or {problem.name, problem.family} & set(names)]
