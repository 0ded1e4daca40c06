"""Every run is a file, found again by a hash of its settings; delete it and it is run again."""

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from experiments.paper.execution import OUT_OF_TIME, Outcome, Point
from experiments.paper.task import FORMAT, Task


class Run(NamedTuple):
    """A run that was made."""

    outcome: Outcome
    timed: bool  # alone on the machine, so that its seconds can be believed
    limit: float  # seconds that it was allowed
    versions: dict[str, str]


class Cache:
    """A folder of runs, with a folder in it for each problem.

    Args:
        folder: Made when the first run is kept.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, task: Task) -> Path:
        """Where a run is kept. The name begins with words for those who look into the folder."""
        problem, run = (
            words.replace(",", "").replace(" ", "-")
            for words in (task.problem, f"{task.method} {task.rows} {task.seed}")
        )
        return self.folder / problem / f"{run}-{task.key}.json"

    def find(self, task: Task, limit: float) -> Run | None:
        """The run, if it is there and good enough: timed where time matters, and not stopped before `limit`."""
        run = self.read(task)
        if run is None or (task.timed and not run.timed):
            return None
        return None if run.outcome.ending == OUT_OF_TIME and run.limit < limit else run

    def read(self, task: Task) -> Run | None:
        """The run as it was kept; a file that cannot be read is a run to be made again."""
        try:
            kept = json.loads(self.path(task).read_text(encoding="utf-8"))
            outcome = Outcome(**kept["outcome"] | {"points": [Point(*point) for point in kept["outcome"]["points"]]})
            return Run(outcome, kept["timed"], kept["limit"], kept["versions"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def keep(self, task: Task, run: Run) -> None:
        """Write a run: first beside its place, so that whoever is killed leaves no half of it."""
        path = self.path(task)
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f"{path.name}.{os.getpid()}.part")
        beside.write_text(_as_written(task, run), encoding="utf-8")
        beside.replace(path)


def _as_written(task: Task, run: Run) -> str:
    """A line for each name: short enough to be committed, and to be read."""
    parts: dict[str, Any] = {
        "format": FORMAT,
        "settings": task.settings,
        "timed": run.timed,
        "limit": run.limit,
        "versions": run.versions,
        "outcome": run.outcome._asdict(),
    }
    lines = (f"{json.dumps(name)}: {json.dumps(value)}" for name, value in parts.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"
