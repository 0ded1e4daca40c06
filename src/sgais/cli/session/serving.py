"""A service in this process, or a saved run on its page, from the settings to the signal that ends it."""

import dataclasses
import os
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import typer
from rich.console import Console

from sgais.cli.arguments.model_specs import models_of
from sgais.cli.arguments.settings import POSTED, Settings
from sgais.cli.output.console import print_line
from sgais.cli.session import segment_tables
from sgais.cli.session.folder import SETTINGS, RunFolder
from sgais.cli.session.interruption import Interruption
from sgais.cli.session.session import config_of, history_of
from sgais.cli.session.trust import how_to_resume
from sgais.errors import CheckpointError, ConfigError, SgaisError
from sgais.models.base import ModelLike
from sgais.models.formula.glm import GLM
from sgais.models.formula.safety import DATE_PARTS
from sgais.monitoring.alarms import ModelAlarm

if TYPE_CHECKING:
    import pandas as pd

    from sgais.serve.board.board import Board
    from sgais.serve.http.security import Guard
    from sgais.serve.http.server import PageServer
    from sgais.serve.limits import Limits
    from sgais.serve.service import Plan, Service

PATIENCE = 3.0  # seconds that a chunk may take to its end when the service is stopped
MAY_CHANGE = ("working_directory", "checkpoint_seconds", "subscribe")  # from one start of a service to the next


@dataclasses.dataclass(frozen=True)
class Listening:
    """Where a service listens, and to whom.

    Attributes:
        host: The address.
        port: 0 for any that is free.
        guard: Who may ask.
        limits: How much.
        trusted_proxies: Addresses of proxies that may say whom they speak for.
        root_path: What stands before every path, where a proxy hands it on.
    """

    host: str
    port: int
    guard: "Guard"
    limits: "Limits"
    trusted_proxies: Sequence[str] = ()
    root_path: str = ""

    def server(self, board: "Board", service: "Service | None" = None) -> "PageServer":
        """Shows a board, and takes rows in where there is a service."""
        from sgais.serve.app import App
        from sgais.serve.http.proxies import Proxies
        from sgais.serve.http.server import PageServer

        app = App(board, self.guard, self.limits, service, Proxies(self.trusted_proxies), self.root_path)
        return PageServer(app, self.host, self.port)


def serve_until_stopped(folder: RunFolder, settings: Settings, listening: Listening, accepts_lost_rows: bool) -> None:
    """Take observations in until a signal comes."""
    from sgais.serve.board.board import ENDED
    from sgais.serve.board.records_table import records_table
    from sgais.serve.push.subscriptions import addresses_of, subscribed
    from sgais.serve.service import Service

    console = Console(stderr=True)
    sources, most_bytes = addresses_of(settings.subscribe), listening.limits.body_bytes
    with folder.claimed(), Interruption() as interruption:
        is_begun = folder.is_begun
        if not is_begun:
            _check_has_no_rows(folder)
            folder.clear()
        plan = _plan(settings, listening.limits, accepts_lost_rows)
        title = "Comparing " + ", ".join(settings.models) if len(settings.models) > 1 else next(iter(settings.models))
        service = Service(plan, folder.path, lambda: history_of(settings.history, folder), title)
        if not is_begun or not folder.has_good_settings or folder.settings().models != settings.models:
            folder.begin(settings)  # behind the checkpoint, which has let models join and leave, or refused them
        _say_who_came_late(console, service)
        service.start()
        with listening.server(service.board, service) as server:
            with subscribed(sources, service, folder.path, server.loop, most_bytes):
                rows = f"{service.log.end_row:,} rows so far"
                print_line(console, f"Serving at {server.url} with {rows}. Ctrl-C ends it.")
                interruption.wait()
            service.board.say(ENDED)
        in_time = service.stop(PATIENCE)
        if service.board.num_rows:
            _keep_curves(folder, records_table(service.board), service.board.alarms)
        print_line(console, f"Stopped. Resume with: {how_to_resume(folder, settings, 'sgais serve --save')}")
    if not in_time:
        os._exit(interruption.exit_code)  # a chunk that takes long is in the log, and is taken in at the next start
    raise typer.Exit(interruption.exit_code)


def show(folder: RunFolder, listening: Listening) -> NoReturn:
    """A saved run, until somebody has seen enough of it."""
    board = _board_of(folder, folder.settings())
    console = Console(stderr=True)
    with Interruption() as interruption, listening.server(board) as server:
        print_line(console, f"Replaying at {server.url}. Ctrl-C ends it.")
        interruption.wait()
    raise typer.Exit(interruption.exit_code)


def _board_of(folder: RunFolder, settings: Settings) -> "Board":
    from sgais.serve.board.replay import board_of
    from sgais.serve.board.segmented import replayed

    title, models, chunk_size = folder.path.name, list(settings.models), settings.chunk_size
    if settings.hazard is not None:
        return replayed(title, models, *segment_tables.read(folder), chunk_size)
    return board_of(title, models, folder.records(), folder.alarms(), chunk_size)


def begun_settings(folder: RunFolder) -> Settings:
    """Those that a service was begun with."""
    try:
        settings = folder.settings()
    except SgaisError as error:
        raise CheckpointError(f"{error} Say the models and options again with which it was begun.") from error
    if settings.source != POSTED:
        raise ConfigError(
            f"`--save` must be the folder of a service, got {folder.path}, a run on {settings.source}. Look at it with "
            f"`sgais serve --replay {folder.path}`, or choose another folder."
        )
    return settings


def check_same(folder: RunFolder, settings: Settings, may_change_models: bool) -> None:
    """A service is resumed as what it was begun as, but for models that join or leave where that is meant."""
    try:
        before: dict[str, Any] = vars(folder.settings())
    except SgaisError as error:
        # Rows were acknowledged here. Who says what they were taken in as may continue with them.
        warnings.warn(f"{error} Continuing with what is said now.", stacklevel=2)
        return
    _check_models(folder, before["models"], settings.models, may_change_models)
    for name, value in vars(settings).items():
        if name not in (*MAY_CHANGE, "models") and value != before[name]:
            raise ConfigError(
                f"`--save` must be a folder of the same service, got {folder.path}, begun with {name} = "
                f"{before[name]!r}, not {value!r}. Leave the models out to resume it, or choose another folder."
            )


def _check_models(folder: RunFolder, before: dict[str, str], now: dict[str, str], may_change: bool) -> None:
    """A name stands for one model for good; others may come and go."""
    for name, spec in now.items():
        if before.get(name, spec) != spec:
            raise ConfigError(
                f"`MODEL` must be what it was, {name}={before[name]}, got {name}={spec}. Choose another name for it."
            )
    came, left = [name for name in now if name not in before], [name for name in before if name not in now]
    if not (came or left) or may_change:
        return
    changes = [f"{', '.join(names)} would {what}" for names, what in ((came, "join"), (left, "leave")) if names]
    raise ConfigError(
        f"`MODEL` must be the models that {folder.path} was begun with, {', '.join(before)}, got {', '.join(now)}: "
        f"{' and '.join(changes)}. Say --change-models if that is meant (the evidence of a model that leaves is given "
        "up), or leave the models out to resume the service."
    )


def _say_who_came_late(console: Console, service: "Service") -> None:
    """Models whose log Z does not count from the first row."""
    for name, remark in service.board.remarks.items():
        if remark.warning:
            print_line(console, f"BEWARE of {name}: {remark.warning}.")


def _keep_curves(folder: RunFolder, table: "pd.DataFrame", alarms: "list[ModelAlarm]") -> None:
    """For a replay; nothing else depends on it."""
    try:
        folder.write_records(table, alarms)
    except CheckpointError as error:
        warnings.warn(f"no records.csv: {error}", stacklevel=2)


def _plan(settings: Settings, limits: "Limits", accepts_lost_rows: bool) -> "Plan":
    from sgais.serve.service import Plan

    models, columns, categories = _as_numbers(settings)
    return Plan(
        models,
        config_of(settings),
        settings.seed,
        settings.chunk_size,
        columns,
        categories,
        settings.checkpoint_seconds,
        limits,
        accepts_lost_rows,
        settings.on_outlier,
    )


def _as_numbers(settings: Settings) -> tuple[dict[str, ModelLike], dict[str, Any], dict[str, Any]]:
    """Models, columns and categories of a service, whose log holds numbers.

    What formulas take for categories are the places of their declared levels, in the log and everywhere behind it.
    """
    places = {name: list(range(len(levels))) for name, levels in settings.levels.items()}
    models = models_of(dataclasses.replace(settings, levels=places))
    formulas = [model for model in models.values() if isinstance(model, GLM)]
    for model in formulas:
        dates = [column for one in model.formula.expressions for name, column in one.calls if name in DATE_PARTS]
        if dates:
            raise ConfigError(
                f"`MODEL` must not take dates apart in a service, got {model.text!r}. Send {dates[0]!r} as numbers."
            )
    columns = {name: name for model in formulas for name in model.columns} | settings.columns
    return models, columns, settings.categories | settings.levels


def _check_has_no_rows(folder: RunFolder) -> None:
    """Rows of a service whose settings are lost would be taken for those of this one."""
    if any((folder.path / "log").glob("rows-*.log")):
        raise ConfigError(
            f"`--save` must be a new folder, or have its {SETTINGS}, got {folder.path}, which has rows of another "
            "service. Choose another folder."
        )
