"""All that a service needs to go on, in one checkpoint: evidence, detectors, what is shown, keys, fields."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sgais import checkpoint
from sgais.comparison.comparison import Comparison
from sgais.fields import Fields
from sgais.models.base import ModelLike
from sgais.online import SAVED_TYPES
from sgais.serve.board.board import Board
from sgais.serve.board.standing import remarks_of, standings_of
from sgais.serve.intake.idempotency import Keys


class ServiceState:
    """What is saved together, so that a kill at any moment leaves all of it as of one chunk.

    Attributes:
        comparison: The models' evidences and shift detectors.
        board: What is shown.
        keys: Of batches that were accepted.
        fields: Of the rows; None while nobody has said.
    """

    def __init__(self, comparison: Comparison, board: Board, keys: Keys, fields: Fields | None) -> None:
        self.comparison, self.board, self.keys, self.fields = comparison, board, keys, fields

    def save(self, path: Path) -> None:
        """Write a checkpoint."""
        content = {
            "comparison": self.comparison.saved(),
            "board": self.board.saved(),
            "keys": self.keys.state(),
            "fields": self.fields,
        }
        checkpoint.write(path, content)

    @classmethod
    def load(cls, path: Path, models: Mapping[str, ModelLike], board: Board) -> "ServiceState":
        """Go on from a checkpoint."""
        content: dict[str, Any] = checkpoint.read(path, SAVED_TYPES)
        comparison = Comparison.restored(content["comparison"], models)
        board.restore(content["board"], standings_of(comparison, ""), remarks_of(comparison, ""))
        return cls(comparison, board, Keys.restored(content["keys"]), content["fields"])


def exists(path: Path) -> bool:
    """Whether there is a checkpoint."""
    return path.exists() or checkpoint.previous(path).exists()
