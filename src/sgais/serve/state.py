"""All that a service needs to continue, in one checkpoint: evidence, detectors, what is shown, keys, fields."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sgais import checkpoint
from sgais.comparison import joining
from sgais.comparison.comparison import Comparison
from sgais.errors import ConfigError
from sgais.fields import Fields
from sgais.models.base import ModelLike
from sgais.models.reading import ReadingModel
from sgais.monitoring.snapshot import snapshot_of
from sgais.online import SAVED_TYPES
from sgais.serve.board.board import Board
from sgais.serve.intake.idempotency import Keys


class ServiceState:
    """What is saved together, so that a kill at any moment leaves all of it as of one chunk.

    Attributes:
        comparison: The models' evidences and shift detectors.
        board: What is shown.
        keys: Of batches that were accepted.
        fields: Of the rows; None while nobody has said.
        acknowledged: Rows that the checkpoint, or its keys, know to have been acknowledged.
    """

    def __init__(
        self, comparison: Comparison, board: Board, keys: Keys, fields: Fields | None, acknowledged: int = 0
    ) -> None:
        self.comparison, self.board, self.keys, self.fields = comparison, board, keys, fields
        self.acknowledged = max(acknowledged, keys.end_row)

    def save(self, path: Path) -> None:
        """Write a checkpoint."""
        content = {
            "comparison": self.comparison.saved(path.parent),
            "board": self.board.saved(),
            "keys": self.keys.state(),
            "fields": self.fields,
            "acknowledged": self.acknowledged,
        }
        checkpoint.write(path, content)

    @classmethod
    def load(cls, path: Path, models: Mapping[str, ModelLike], board: Board) -> "ServiceState":
        """Resume from a checkpoint; models that it does not know join, and those that are not asked for leave."""
        with checkpoint.offering_previous(path):
            content: dict[str, Any] = checkpoint.read(path, SAVED_TYPES)
            checkpoint.require_part(path, content, "keys", "a service")
            comparison = _resumed(content["comparison"], models, path.parent)
            board.restore(content["board"], snapshot_of(comparison))
            keys, acknowledged = Keys.restored(content["keys"]), int(content.get("acknowledged", 0))
            return cls(comparison, board, keys, content["fields"], acknowledged)


def _resumed(content: dict[str, Any], models: Mapping[str, ModelLike], folder: Path) -> Comparison:
    """The comparison of a checkpoint, with the models that are asked for now."""
    saved = list(content["log_odds"])
    leaving, joining_now = (
        [name for name in saved if name not in models],
        [name for name in models if name not in saved],
    )
    if (leaving or joining_now) and any(isinstance(model, ReadingModel) for model in models.values()):
        raise ConfigError(
            f"`MODEL` must be the formulas that were there, {', '.join(saved)}, got {', '.join(models)}: columns that "
            "others need are not kept. Begin a service with all of them in a new folder."
        )
    if leaving:
        content = joining.without(content, leaving)
    comparison = Comparison.restored(content, {name: models[name] for name in saved if name in models}, folder)
    for name in joining_now:
        comparison.add(name, models[name])
    return comparison


def exists(path: Path) -> bool:
    """Whether there is a checkpoint."""
    return path.exists() or checkpoint.previous(path).exists()
