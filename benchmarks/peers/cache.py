"""Every run is a small file that says what determined it; delete it and it is run again.

The files are committed: hours of work, made on several days. One whose code or versions have changed is written over.
"""

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
        """Where a run is kept."""
        return self.folder / f"{'-'.join(str(task).replace(',', '').split())}.json"

    def find(self, task: Task, limit: float) -> Outcome | None:
        """The run, unless it is missing, unreadable, out of date, or was stopped earlier than it would be now."""
        try:
            kept = json.loads(self.path(task).read_text(encoding="utf-8"))
            key, outcome = kept["key"], Outcome(**kept["outcome"])
        except (OSError, ValueError, TypeError, KeyError):
            return None
        is_cut_short = outcome.ending == OUT_OF_TIME and outcome.limit < limit
        return None if key != task.key or is_cut_short else outcome

    def keep(self, task: Task, outcome: Outcome) -> None:
        """Write a run: first beside its place, so that whoever is killed leaves no half of it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        beside = self.path(task).with_suffix(f".{os.getpid()}.part")
        kept = {"key": task.key, "outcome": outcome._asdict()}
        beside.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        beside.replace(self.path(task))
