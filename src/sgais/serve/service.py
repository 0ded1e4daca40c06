"""A service: rows come in, the worker takes them in, everything survives a kill."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from sgais.comparison.comparison import Comparison
from sgais.errors import ConfigError
from sgais.estimators.annealing_config import PaperConfig
from sgais.estimators.default.config import Config
from sgais.fields import Chunk, Fields
from sgais.history import History
from sgais.models.base import ModelLike, real_dtype
from sgais.models.reading import ReadingModel
from sgais.serve.board.board import COMPILING, RUNNING, SERVICE, Board
from sgais.serve.intake.admission import Admission
from sgais.serve.intake.idempotency import Keys
from sgais.serve.intake.intake import Intake
from sgais.serve.limits import Limits
from sgais.serve.log.row_log import RowLog
from sgais.serve.state import ServiceState, exists
from sgais.serve.worker import Worker
from sgais.shift import ShiftDetector


class Listener(Protocol):
    """Takes in what a source sends by itself.

    Attributes:
        name: Of the source.
        is_connected: Whether it can send now.
    """

    name: str
    is_connected: bool


@dataclass(frozen=True)
class Plan:
    """What a service does.

    Attributes:
        models: By name.
        config: Of the estimator.
        seed: Of all random numbers.
        chunk_size: Rows per chunk.
        columns: The columns of a batch that make up a column of the models.
        categories: Of columns that hold text.
        checkpoint_seconds: From one checkpoint to the next.
        limits: On what clients may ask.
        on_outlier: What is done with rows that are absurd by a model's predictive.
        accepts_lost_rows: Whether to continue without acknowledged rows that are damaged or gone.
    """

    models: Mapping[str, ModelLike]
    config: Config | PaperConfig
    seed: int = 0
    chunk_size: int = 500
    columns: Mapping[str, Any] = field(default_factory=dict)
    categories: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    checkpoint_seconds: float = 60.0
    limits: Limits = field(default_factory=Limits)
    accepts_lost_rows: bool = False
    on_outlier: str = "quarantine"


class Service:
    """Joins log, intake and worker; what was there is resumed.

    Args:
        plan: What it does.
        folder: Where checkpoint and log are.
        new_history: Makes the past of a service that is begun anew.
        title: For the page.
    """

    def __init__(self, plan: Plan, folder: Path, new_history: Callable[[], History], title: str) -> None:
        checkpoint = folder / "checkpoint"
        self.board = Board(SERVICE, title, list(plan.models), plan.chunk_size)
        self._state = self._begun_or_loaded(plan, checkpoint, new_history)
        self.log = self._found_log(plan, folder, checkpoint)
        self.intake = Intake(self._admission(plan), self.log, self._state.keys, plan.limits.waiting_rows)
        self.subscriptions: list[Listener] = []
        self.worker = Worker(self._state, self.log, self.intake, checkpoint, plan.checkpoint_seconds, plan.chunk_size)

    def start(self) -> None:
        """Begin to take rows in."""
        self.worker.start()

    def stop(self, patience: float) -> bool:
        """End; tells whether the worker came to an end in time. What was acknowledged is safe either way."""
        self.intake.close()
        return self.worker.stop(patience)

    def numbers(self) -> dict[str, Any]:
        """What the board does not know."""
        counts = self.intake.counts
        return {
            "rows_accepted": self.log.end_row,
            "rows_waiting": self.intake.num_waiting,
            "rows_saved": self.worker.saved_rows,
            "rows_set_aside": self.worker.rows_set_aside,
            "log_bytes": self.log.size,
            "num_batches": counts.batches,
            "num_duplicates": counts.duplicates,
            "num_messages_set_aside": counts.set_aside,
            "subscriptions": [{"source": one.name, "is_connected": one.is_connected} for one in self.subscriptions],
        }

    def _found_log(self, plan: Plan, folder: Path, checkpoint: Path) -> RowLog:
        """The log, from where the checkpoint ends; its keys are known again."""
        state = self._state
        log = RowLog(folder / "log", state.comparison.place.position, state.acknowledged, plan.accepts_lost_rows)
        if log.has_given_up:
            state.keys.forget_from(log.end_row)
            state.acknowledged = log.end_row
            if exists(checkpoint):
                state.save(checkpoint)  # or the next start would miss the rows again
        for entry in log.entries:
            state.keys.add(entry)
        log.entries.clear()
        return log

    def _begun_or_loaded(self, plan: Plan, checkpoint: Path, new_history: Callable[[], History]) -> ServiceState:
        if exists(checkpoint):
            return ServiceState.load(checkpoint, plan.models, self.board)
        options: dict[str, Any] = {"detector": ShiftDetector(), "on_outlier": plan.on_outlier}
        comparison = Comparison(plan.models, plan.config, plan.seed, history=new_history(), **options)
        return ServiceState(comparison, self.board, Keys(), _declared(plan))

    def _admission(self, plan: Plan) -> Admission:
        def try_out(rows: Chunk, fields: Fields) -> None:
            """Every model must be able to weigh such rows, or none of them will ever be taken in."""
            self.board.say(COMPILING, "The first rows are shown to the models.")
            try:
                for model in plan.models.values():
                    if not isinstance(model, ReadingModel):  # which may need more rows than the first batch has
                        model.bind(rows).check_log_likelihood(rows)
            finally:
                self.board.say(RUNNING)
            self._state.fields = fields

        fields = self._state.fields or self.log.fields()
        dtype = np.dtype(real_dtype())
        return Admission(fields, plan.columns, plan.categories, plan.limits.batch_rows, dtype, try_out)


def _declared(plan: Plan) -> Fields | None:
    declared = [model.fields for model in plan.models.values() if model.fields]
    fields = declared[0] if declared else None
    for name in plan.columns:
        if fields is not None and name not in fields:
            raise ConfigError(f"`--columns` must name columns of the models, {sorted(fields)}, got {name!r}.")
    return fields
