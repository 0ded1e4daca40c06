"""All that a service needs to go on, in one checkpoint: evidence, detectors, what is shown, keys, fields."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sgais import checkpoint
from sgais.comparison import SAVED_RECORDS, Comparison
from sgais.fields import Fields
from sgais.online import Bindable
from sgais.serve.board import Board
from sgais.serve.idempotency import Keys
from sgais.serve.standing import standings_of
from sgais.serve.watchers import Watchers


class ServiceState:
    """What is saved together, so that a kill at any moment leaves all of it as of one chunk.

    Attributes:
        comparison: The models' evidences.
        watchers: Their shift detectors.
        board: What is shown.
        keys: Of batches that were accepted.
        fields: Of the rows; None while nobody has said.
    """

    def __init__(
        self, comparison: Comparison, watchers: Watchers, board: Board, keys: Keys, fields: Fields | None
    ) -> None:
        self.comparison, self.watchers, self.board, self.keys, self.fields = comparison, watchers, board, keys, fields

    def save(self, path: Path) -> None:
        """Write a checkpoint."""
        content = {
            "comparison": self.comparison.saved(),
            "watchers": self.watchers.state(),
            "board": self.board.saved(),
            "keys": self.keys.state(),
            "fields": self.fields,
        }
        checkpoint.write(path, content)

    @classmethod
    def load(cls, path: Path, models: Mapping[str, Bindable], board: Board) -> "ServiceState":
        """Go on from a checkpoint."""
        content: dict[str, Any] = checkpoint.read(path, SAVED_RECORDS)
        comparison = Comparison.restored(content["comparison"], models)
        watchers = Watchers(list(models))
        watchers.restore(content["watchers"])
        board.restore(content["board"], standings_of(comparison, ""))
        return cls(comparison, watchers, board, Keys.restored(content["keys"]), content["fields"])


def exists(path: Path) -> bool:
    """Whether there is a checkpoint."""
    return path.exists() or checkpoint.previous(path).exists()
