"""The folder of a run: what it is called, what is in it, and how that is read again."""

import csv
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from sgais.checkpoint import durable
from sgais.cli.arguments.settings import Settings
from sgais.cli.session.folder_lock import FolderLock
from sgais.comparison.combination import EVIDENCE
from sgais.comparison.records import ComparisonRecord, ModelStanding
from sgais.errors import CheckpointError, ConfigError, SgaisError
from sgais.monitoring.alarms import ModelAlarm
from sgais.results.record import EvidenceRecord

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DOTS_PER_INCH = 200
SETTINGS, SECOND_COPY = "run.json", ".run.json"  # the second is out of sight: it is for when the first is damaged


class RunFolder:
    """Files of one run.

    Attributes:
        path: The folder.
        checkpoint: All that is needed to continue.
        rows: The past, where that is kept on disk.
        sent: How many results have been sent where (`--emit`).
    """

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self.checkpoint = self.path / "checkpoint"
        self.rows = self.path / "rows.bin"
        self.sent = self.path / "sent.json"

    @property
    def has_checkpoint(self) -> bool:
        """Whether a run has come far enough to leave one."""
        return self.checkpoint.exists() or self.checkpoint.with_name("checkpoint.previous").exists()

    @property
    def is_begun(self) -> bool:
        """Whether a run was started here."""
        return (self.path / SETTINGS).exists()

    def clear(self) -> None:
        """Forget the run that is there, or what is left of one."""
        with self.explained():
            self.path.mkdir(parents=True, exist_ok=True)
            for name in (
                SETTINGS,
                SECOND_COPY,
                "checkpoint",
                "checkpoint.previous",
                "rows.bin",
                "records.csv",
                "alarms.csv",
                "changes.csv",
                "segments.csv",
                "sent.json",
                "session",
                "set-aside.ndjson",
            ):
                (self.path / name).unlink(missing_ok=True)

    def check_is_free(self) -> None:
        """Refuse to write over another run."""
        if self.is_begun:
            raise ConfigError(
                f"`--save` must be a folder without a run, got {self.path}. "
                f"Resume it with `sgais resume {self.path}`, or choose another."
            )

    @contextmanager
    def claimed(self) -> Iterator[None]:
        """While the block runs, no other process writes to the folder."""
        with self.explained():
            lock = FolderLock(self.path)
        with lock:
            yield

    def begin(self, settings: Settings) -> None:
        """Note how the run can be resumed, twice: without it, what was saved is of no use."""
        with self.explained():
            for name in (SECOND_COPY, SETTINGS):
                durable.replace(self.path / name, settings.to_json().encode())

    def settings(self) -> Settings:
        """How the run was started."""
        try:
            return _settings_in(self.path / SETTINGS)
        except FileNotFoundError as error:
            raise ConfigError(
                f"`DIR` must be a folder that `--save` has written, got {self.path}, which has no run.json. "
                "Start with `sgais run MODEL SOURCE --save DIR`."
            ) from error
        except (OSError, ValueError, TypeError) as error:
            if (second := self._second_settings()) is not None:
                warnings.warn(f"{self.path / SETTINGS} is damaged. Using its copy, {SECOND_COPY}.", stacklevel=2)
                return second
            raise SgaisError(f"`{self.path / SETTINGS}` must hold the settings of a run, got {error}.") from error

    @property
    def has_good_settings(self) -> bool:
        """Whether the first copy of the settings can be read."""
        try:
            _settings_in(self.path / SETTINGS)
        except (OSError, ValueError, TypeError):
            return False
        return True

    def _second_settings(self) -> Settings | None:
        try:
            return _settings_in(self.path / SECOND_COPY)
        except (OSError, ValueError, TypeError):
            return None

    def go_where_it_was_started(self, settings: Settings) -> None:
        """Paths in the settings are meant from there."""
        try:
            os.chdir(settings.working_directory)
        except OSError as error:
            raise ConfigError(
                f"`working_directory` of {self.path / 'run.json'} must be a folder, got {settings.working_directory}: "
                f"{error.strerror}. Correct it there."
            ) from error

    def write_records(self, frame: pd.DataFrame, alarms: Sequence[ModelAlarm]) -> None:
        """The curve, and the changes that were noticed."""
        with self.explained():
            frame.to_csv(self.path / "records.csv", index=False)
            with (self.path / "alarms.csv").open("w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows([ModelAlarm._fields, *alarms])

    def records(self) -> list[EvidenceRecord] | list[ComparisonRecord]:
        """The curve as it was written: of one model, or of a comparison."""
        path = self.path / "records.csv"
        try:
            frame = pd.read_csv(path, keep_default_na=True).fillna({"warning": ""})
        except (OSError, pd.errors.EmptyDataError) as error:
            raise SgaisError(f"`{self.path}` must hold records, got no records.csv. Run it to an end first.") from error
        if "model" in frame:
            return _comparison_records(frame)
        return [EvidenceRecord(**line) for line in _lines(frame)]

    def alarms(self) -> list[ModelAlarm]:
        """The changes as they were written."""
        path = self.path / "alarms.csv"
        if not path.exists():
            return []
        return [ModelAlarm(*line) for line in pd.read_csv(path).itertuples(index=False)]

    def draw(self, records: Sequence[Any], alarms: Sequence[ModelAlarm]) -> list[str]:
        """Draw the figures of a curve, and return the names of their files."""
        has_weights = self.is_begun and self.settings().combine != EVIDENCE  # else they are the probabilities
        figures = _figures(records, _first_rows(alarms), has_weights)
        return [self.keep(figure, name) for name, figure in figures.items()]

    def keep(self, figure: "Figure", name: str) -> str:
        """Write a figure as PNG, to be sent, and as SVG, which the report holds; returns the name of the first."""
        with self.explained():
            for kind in ("svg", "png"):
                figure.savefig(self.path / f"{name}.{kind}", dpi=DOTS_PER_INCH)
        return f"{name}.png"

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Say what to do about a folder that cannot be written to."""
        try:
            yield
        except OSError as error:
            raise CheckpointError(
                f"`DIR` must be a folder that can be written to, got {self.path}: {error.strerror}. "
                "Choose another, or let it be written to."
            ) from error


def _settings_in(path: Path) -> Settings:
    return Settings.from_json(path.read_text(encoding="utf-8"))


def _first_rows(alarms: Sequence[ModelAlarm]) -> list[int]:
    """Where each change was first noticed, however many models noticed it."""
    first: dict[int, int] = {}
    for alarm in alarms:
        first[alarm.location] = min(alarm.row, first.get(alarm.location, alarm.row))
    return sorted(set(first.values()))


def _lines(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in line.items()} for line in frame.to_dict("records")]


def _comparison_records(frame: pd.DataFrame) -> list[ComparisonRecord]:
    records = []
    for num_rows, group in frame.groupby("num_rows", sort=True):
        lines = _lines(group.drop(columns="num_rows"))
        standings = {str(line.pop("model")): ModelStanding(**line) for line in lines}
        records.append(ComparisonRecord(int(str(num_rows)), standings, float("nan")))
    return records


def _figures(records: Sequence[Any], alarms: Sequence[int], has_weights: bool) -> dict[str, Any]:
    from sgais import plots  # Matplotlib is slow to import, and most commands draw nothing

    figures = {"evidence": plots.evidence(records, alarms=alarms)}
    if hasattr(records[0], "models"):
        figures["probabilities"] = plots.probabilities(records, alarms=alarms)
        if len(records[-1].models) > 1:
            figures["bayes_factors"] = plots.bayes_factors(records, alarms=alarms)
        if has_weights:
            figures["weights"] = plots.weights(records, alarms=alarms)
    figures["annealing"] = plots.annealing(records, alarms=alarms)
    return figures
