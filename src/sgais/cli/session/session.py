"""A run from its settings: models, stream, evidence; started or resumed."""

import math
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from sgais import history
from sgais.checkpoint import Schedule
from sgais.cli.arguments.configuration import build_config
from sgais.cli.arguments.model_specs import models_of
from sgais.cli.arguments.settings import Settings
from sgais.cli.output.live import View
from sgais.cli.session.folder import RunFolder
from sgais.cli.session.interruption import PATIENCE, Interruption
from sgais.cli.session.trust import how_to_resume
from sgais.cli.session.watched_stream import WatchedStream
from sgais.comparison.comparison import Comparison
from sgais.emit.emitter import Emitter
from sgais.errors import ConfigError
from sgais.estimators.annealing_config import PaperConfig
from sgais.estimators.default.config import Config
from sgais.fields import Fields
from sgais.models import AutoRegression
from sgais.models.base import ModelLike
from sgais.models.reading import ReadingModel
from sgais.monitoring.alarms import ModelAlarm, members_of, new_alarms
from sgais.monitoring.snapshot import Snapshot, snapshot_of
from sgais.online import OnlineEvidence
from sgais.run_loop import Checkpoints, RunLoop
from sgais.shift import ShiftDetector
from sgais.streams import lagged, stream
from sgais.streams.remote.address import without_password

SECONDS_BETWEEN_SNAPSHOTS = 0.1  # more than the eye needs, and next to no cost


class Session:
    """Models on a stream, and where they stand.

    Args:
        settings: Of the run.
        folder: Where it is saved, if it is.
    """

    def __init__(self, settings: Settings, folder: RunFolder | None = None) -> None:
        self.settings, self.folder = settings, folder
        self.models = models_of(settings)
        self.stream = open_stream(settings, list(self.models.values()))
        self.follower = self._loaded() if folder is not None and folder.has_checkpoint else self._begun()
        self.listeners: list[Callable[[], None]] = []  # called after every chunk
        self._checkpoints: Checkpoints | None = None

    @property
    def name(self) -> str:
        """The name of the model, or of the first of several."""
        return next(iter(self.models))

    @property
    def title(self) -> str:
        """A heading."""
        what = "Comparing " + ", ".join(self.models) if self.settings.is_comparison else self.name
        return f"{what} on {source_name(self.settings)}"

    def run(self, view: View) -> Interruption:
        """Take in the stream to its end, or until a signal comes."""
        with Interruption(lambda: view.let_go(self._last_words())) as interruption, view:
            self._last_shown = -math.inf
            self._checkpoints = self._new_checkpoints()
            loop: RunLoop[Any] = RunLoop(self.follower, self._checkpoints, [lambda _: self._after_chunk(view)])
            emitter = self._new_emitter()
            try:
                loop.run(WatchedStream(self.stream, interruption))
            finally:
                if emitter is not None:
                    emitter.close()
        return interruption

    @property
    def is_saved(self) -> bool:
        """Whether the newest checkpoint that was wanted is there."""
        return self._checkpoints is None or self._checkpoints.is_saved

    def snapshot(self) -> Snapshot:
        """Where the run stands."""
        decision, null = None, self.settings.null
        if null is not None and isinstance(self.follower, Comparison):
            decision = self.follower.decide(self.settings.level, null)
        return snapshot_of(self.follower, self.name)._replace(decision=decision)

    def new_alarms(self) -> list[ModelAlarm]:
        """Those of the newest chunk."""
        return new_alarms(self.follower, self.name)

    def _after_chunk(self, view: View) -> None:
        has_alarm, now = bool(self.new_alarms()), time.monotonic()
        for listener in self.listeners:
            listener()
        if has_alarm or now - self._last_shown > SECONDS_BETWEEN_SNAPSHOTS:
            self._last_shown = now
            view.show(self.snapshot())

    def _new_emitter(self) -> Emitter | None:
        """Whoever sends the results away, if that is asked for."""
        if not self.settings.emit:
            return None
        state = None if self.folder is None else self.folder.sent
        emitter = Emitter(self.settings.emit, self.follower, self.title, self.name, state)
        self.listeners.append(emitter.after_chunk)
        return emitter

    def _new_checkpoints(self) -> Checkpoints | None:
        if self.folder is None:
            return None
        # A signal that comes in the midst of a slow chunk ends the process without it. What came before must be safe.
        schedule = Schedule(every_seconds=self.settings.checkpoint_seconds, slow_chunk_seconds=PATIENCE / 2)
        return Checkpoints(self.follower, schedule, partial(self.follower.save, self.folder.checkpoint))

    def _last_words(self) -> str:
        """When the process ends in the midst of a chunk."""
        stopped = f"Stopped after {self.follower.num_rows:,} rows, in the midst of a chunk."
        if self.folder is None:
            return stopped
        return f"{stopped} Resume with: {how_to_resume(self.folder, self.settings, 'sgais resume')}"

    def _begun(self) -> OnlineEvidence | Comparison:
        config = config_of(self.settings)
        past = history_of(self.settings.history, self.folder)
        if self.settings.is_comparison:
            options: dict[str, Any] = {"detector": ShiftDetector(), "on_outlier": self.settings.on_outlier}
            options["combine"] = self.settings.combine
            return Comparison(self.models, config, self.settings.seed, history=past, **options)
        seed, policy = self.settings.seed, self.settings.on_outlier
        return OnlineEvidence(self.models[self.name], config, seed, past, ShiftDetector(), policy)

    def _loaded(self) -> OnlineEvidence | Comparison:
        assert self.folder is not None, "a checkpoint is in a folder"
        follower: OnlineEvidence | Comparison
        if self.settings.is_comparison:
            follower = Comparison.load(self.folder.checkpoint, self.models)
        else:
            follower = OnlineEvidence.load(self.folder.checkpoint, self.models[self.name])
        for member in members_of(follower, self.name).values():
            if member.detector is None:  # in checkpoints of before they were saved
                member.watch(ShiftDetector())
        return follower


def source_name(settings: Settings) -> str:
    """Where rows come from, as it may be shown."""
    return "standard input" if settings.source == "-" else without_password(settings.source)


def config_of(settings: Settings) -> Any:
    """The estimator's parameters."""
    return build_config(PaperConfig() if settings.paper else Config(), settings.parameters)


def open_stream(settings: Settings, models: list[ModelLike], more_fields: Fields | None = None) -> Any:
    """The source's rows, as these models want them, with more columns if asked for."""
    fields = _fields(models)
    fields = fields if fields is None or not more_fields else fields | more_fields
    orders = [model.options["order"] for model in models if isinstance(model, AutoRegression)]
    is_series = bool(orders) and "x" not in settings.columns
    columns: Any = {"y": settings.columns.get("y", "y")} if is_series else settings.columns
    rows = stream(
        settings.source,
        settings.chunk_size,
        fields=None if is_series else fields,
        categories=settings.categories,
        on_error=settings.on_error,
        quarantine=settings.quarantine,
        follow_seconds=settings.follow,
        format=settings.format,
        **columns,
    )
    return lagged(rows, orders[0]) if is_series else rows


def _fields(models: list[ModelLike]) -> Fields | None:
    """What the models want of the source; formulas want different columns, and get all of them."""
    read = [model.source_fields for model in models if isinstance(model, ReadingModel)]
    return {name: field for fields in read for name, field in fields.items()} if read else models[0].fields


def history_of(text: str, folder: RunFolder | None) -> history.History:
    """`memory`, `disk` (in the folder of the run), `disk:FILE` or `reservoir:ROWS`."""
    kind, _, detail = text.partition(":")
    if kind == "memory" and not detail:
        return history.Memory()
    if kind == "disk" and (detail or folder is not None):
        return history.Disk(detail or _new_rows_file(folder))
    if kind == "reservoir" and detail.isdigit() and int(detail) > 0:
        return history.Reservoir(int(detail))
    raise ConfigError(
        f"`--history` must be memory, disk (with --save), disk:FILE or reservoir:ROWS, got {text!r}. "
        "Try reservoir:100000 for a stream that does not end."
    )


def _new_rows_file(folder: RunFolder | None) -> Path:
    assert folder is not None, "rows go to the folder of the run"
    folder.rows.unlink(missing_ok=True)  # of a run that was stopped before its first checkpoint
    return folder.rows
