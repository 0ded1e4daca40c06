"""Small tables, made of cached runs: all that figures and report are made of."""

import json
import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.paper.cache import Cache, Run
from experiments.paper.task import Task

DECIMALS = {"log_evidence": 3, "standard_error": 4, "seconds": 4, "annealing_steps": 3, "moves": 3, "weight_ess": 3}
ORIGIN = "made_with.json"
Line = dict[str, Any]


def gather(
    tasks: Iterable[Task], cache: Cache, limit: float, lines: Callable[[Task, Run], Iterable[Line]]
) -> pd.DataFrame:
    """The lines of all runs that there are; without seconds where a run was not alone on the machine."""
    found = ((task, cache.find(task, limit)) for task in tasks)
    kept = [(task, run if run.timed else _without_times(run)) for task, run in found if run is not None]
    return pd.DataFrame([line for task, run in kept for line in lines(task, run)]).round(DECIMALS)


def _without_times(run: Run) -> Run:
    outcome = run.outcome
    points = [point._replace(seconds=math.nan) for point in outcome.points]
    return run._replace(outcome=outcome._replace(seconds=math.nan, points=points))


def curve_lines(run: Run) -> list[Line]:
    """A line for each point of an evidence curve."""
    return [point._asdict() for point in run.outcome.points]


def write(folder: Path, name: str, table: pd.DataFrame) -> None:
    """Keep a table."""
    folder.mkdir(parents=True, exist_ok=True)
    table.to_csv(folder / f"{name}.csv", index=False)


def read(folder: Path, name: str) -> pd.DataFrame:
    """A table; empty if there is none yet."""
    path = folder / f"{name}.csv"
    if not path.exists() or not path.read_text(encoding="utf-8").strip():
        return pd.DataFrame()
    return pd.read_csv(path, keep_default_na=False, na_values=[""])


def write_origin(folder: Path, settings: str, limit: float, tasks: Iterable[Task], cache: Cache) -> None:
    """Which version of the experiments the tables hold, and what their runs were made with."""
    runs = [run for run in (cache.find(task, limit) for task in tasks) if run is not None]
    names = sorted({name for run in runs for name in run.versions})
    versions = {name: sorted({run.versions[name] for run in runs if name in run.versions}) for name in names}
    origin = {"settings": settings, "limit": limit, "runs": len(runs), "versions": versions}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ORIGIN).write_text(json.dumps(origin, indent=1) + "\n", encoding="utf-8")


def read_origin(folder: Path) -> dict[str, Any]:
    """What `write_origin` wrote; empty if there is nothing yet."""
    path = folder / ORIGIN
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}
