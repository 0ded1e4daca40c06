"""Every run is a small file, found again by what determines it; delete it and it is run again."""

import json
import os
from pathlib import Path

from benchmarks.peers.outcome import OUT_OF_TIME, Outcome
from benchmarks.peers.task import Task


class Cache:
    """A folder of runs.

    Args:
        folder: Made when the first run is kept.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, task: Task) -> Path:
        """Where a run is kept. The name begins with words for those who look into the folder."""
        return self.folder / f"{'-'.join(str(task).replace(',', '').split())}-{task.key}.json"

    def find(self, task: Task, limit: float) -> Outcome | None:
        """The run, unless it is missing, cannot be read, or was stopped earlier than it would be now."""
        try:
            outcome = Outcome(**json.loads(self.path(task).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None
        return None if outcome.ending == OUT_OF_TIME and outcome.limit < limit else outcome

    def keep(self, task: Task, outcome: Outcome) -> None:
        """Write a run: first beside its place, so that whoever is killed leaves no half of it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        beside = self.path(task).with_suffix(f".{os.getpid()}.part")
        beside.write_text(json.dumps(outcome._asdict(), indent=1) + "\n", encoding="utf-8")
        beside.replace(self.path(task))
