"""Histories in checkpoints: which kind it was, and what it needs to continue."""

from pathlib import Path
from typing import Any

from sgais.history.disk import Disk
from sgais.history.memory import Memory
from sgais.history.past import History
from sgais.history.reservoir import Reservoir

KINDS: dict[str, Any] = {kind.__name__: kind for kind in (Memory, Disk, Reservoir)}


def saved_history(history: History, folder: Path) -> dict[str, Any]:
    """What a checkpoint in a folder holds of a history."""
    return {"kind": type(history).__name__, "state": history.state(folder)}


def restored_history(content: dict[str, Any], folder: Path) -> History:
    """The history that was saved with a checkpoint in this folder."""
    history: History = KINDS[content["kind"]].restored(content["state"], folder)
    return history
