"""`sgais serve`: a service that takes observations in, and a page that shows how the models stand."""

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from sgais.cli.arguments.model_specs import complete_model, model_of, named_specs
from sgais.cli.arguments.options import EstimatorFlags, ServiceFlags, expanded
from sgais.cli.arguments.settings import POSTED, Settings, gather
from sgais.cli.output.console import print_line, print_warnings
from sgais.cli.serve_extra import require_extra
from sgais.cli.session.folder import RunFolder
from sgais.cli.session.interruption import Interruption
from sgais.cli.session.session import config_of, history_of
from sgais.errors import ConfigError
from sgais.monitoring.snapshot import ModelAlarm

if TYPE_CHECKING:
    import pandas as pd

    from sgais.serve.board.board import ShownAlarm
    from sgais.serve.http.security import Guard
    from sgais.serve.limits import Limits
    from sgais.serve.service import Plan

HISTORY = "reservoir:100000"  # a service does not end: its memory must not grow
PATIENCE = 3.0  # seconds that a chunk may take to its end when the service is stopped
MAY_CHANGE = ("working_directory", "checkpoint_seconds")  # from one start of a service to the next


@expanded
def serve(
    estimator: EstimatorFlags,
    flags: ServiceFlags,
    models: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME=]MODEL...", help="Models as in sgais run.", autocompletion=complete_model),
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen at; others than this machine's need a token.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 for any that is free.")] = 8321,
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A secret that clients have to send (or SGAIS_TOKEN).")
    ] = None,
    max_body_bytes: Annotated[int, typer.Option(min=1, help="The largest body of a request.")] = 8 * 1024 * 1024,
    max_batch_rows: Annotated[int, typer.Option(min=1, help="The most rows in a batch.")] = 10_000,
    max_waiting_rows: Annotated[int, typer.Option(min=1, help="Rows that may wait; then comes 429.")] = 500_000,
    max_requests: Annotated[int, typer.Option(min=1, help="Per second, from one address.")] = 1_000,
    replay: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Only show a run that --save has written, with a slider.")
    ] = None,
) -> None:
    """Take observations in over HTTP, keep the evidence of several models current, and show it on a page.

    \b
    Examples:
      sgais serve all=linear-regression one=linear-regression:features=0 \\
        -c x=height,age -c y=weight --save people
      curl localhost:8321/observations -H 'Content-Type: application/json' \\
        -d '[{"height": 1.7, "age": 30, "weight": 70}]'
      sgais serve --save people                 (goes on where it was stopped)
      sgais serve --replay people-run           (what sgais compare --save has written)
      sgais serve --save people --host 0.0.0.0 --token-file secret.txt

    What is acknowledged is on disk. Chunks are cut by the number of the row, so that log Z is that of sgais compare
    on the same rows.
    """  # noqa: D301 (a real backspace keeps the lines of the examples apart)
    require_extra()
    from sgais.serve.http.security import Guard
    from sgais.serve.limits import Limits

    guard = Guard(host, _token(token_file))
    limits = Limits(max_body_bytes, max_batch_rows, max_waiting_rows, max_requests)
    if replay is not None:
        _show(replay, guard, limits, host, port)
    specs = named_specs(models or [])
    if flags.save is None:
        raise ConfigError("`--save` must be a folder, got none. Rows and checkpoints are kept there: --save DIR.")
    folder = RunFolder(flags.save)
    is_begun = (folder.path / "run.json").exists()
    if is_begun and not specs and flags.config is None:
        settings = folder.settings()
        _check_is_service(folder, settings)
        folder.go_where_it_was_started(settings)
    else:
        settings = gather(specs, POSTED, True, flags, estimator, history=HISTORY)
        if is_begun:
            _check_same(folder, settings)
    _serve(folder, settings, guard, limits, host, port, is_begun)


def _serve(
    folder: RunFolder, settings: Settings, guard: "Guard", limits: "Limits", host: str, port: int, is_begun: bool
) -> None:
    from sgais.serve.app import App
    from sgais.serve.board.board import ENDED
    from sgais.serve.board.records_table import records_table
    from sgais.serve.folder_lock import FolderLock
    from sgais.serve.http.server import PageServer
    from sgais.serve.service import Service

    console = Console(stderr=True)
    print_warnings(console)
    with folder.explained():
        lock = FolderLock(folder.path)
    with lock, Interruption() as interruption:
        if not is_begun:
            _check_has_no_rows(folder)
            folder.clear()
        plan = _plan(settings, limits)
        title = "Comparing " + ", ".join(settings.models) if len(settings.models) > 1 else next(iter(settings.models))
        service = Service(plan, folder.path, lambda: history_of(settings.history, folder), title)
        if not is_begun:
            folder.begin(settings)
        service.start()
        with PageServer(App(service.board, guard, limits, service), host, port) as server:
            print_line(console, f"Serving at {server.url} with {service.log.end_row:,} rows so far. Ctrl-C ends it.")
            interruption.wait()
            service.board.say(ENDED)
        in_time = service.stop(PATIENCE)
        if service.board.num_rows:
            _keep_curves(folder, records_table(service.board), service.board.alarms)
        print_line(console, f"Stopped. Go on with: sgais serve --save {folder.path}")
    if not in_time:
        os._exit(interruption.exit_code)  # a chunk that takes long is in the log, and is taken in at the next start
    raise typer.Exit(interruption.exit_code)


def _keep_curves(folder: RunFolder, table: "pd.DataFrame", alarms: "list[ShownAlarm]") -> None:
    """For a replay; nothing else depends on it."""
    try:
        folder.write_records(table, [ModelAlarm(*alarm) for alarm in alarms])
    except OSError as error:
        warnings.warn(f"no records.csv: {error.strerror}", stacklevel=2)


def _show(path: Path, guard: "Guard", limits: "Limits", host: str, port: int) -> None:
    """A saved run, until somebody has seen enough of it."""
    from sgais.serve.app import App
    from sgais.serve.board.board import ShownAlarm
    from sgais.serve.board.replay import board_of
    from sgais.serve.http.server import PageServer

    folder = RunFolder(path)
    settings = folder.settings()
    alarms = [ShownAlarm(*alarm) for alarm in folder.alarms()]
    board = board_of(folder.path.name, list(settings.models), folder.records(), alarms, settings.chunk_size)
    console = Console(stderr=True)
    with Interruption() as interruption, PageServer(App(board, guard, limits), host, port) as server:
        print_line(console, f"Replaying at {server.url}. Ctrl-C ends it.")
        interruption.wait()
    raise typer.Exit(interruption.exit_code)


def _plan(settings: Settings, limits: "Limits") -> "Plan":
    from sgais.serve.service import Plan

    return Plan(
        {name: model_of(spec, settings.columns) for name, spec in settings.models.items()},
        config_of(settings),
        settings.seed,
        settings.chunk_size,
        settings.columns,
        settings.categories,
        settings.checkpoint_seconds,
        limits,
    )


def _check_same(folder: RunFolder, settings: Settings) -> None:
    """A service goes on as what it was begun as."""
    before = vars(folder.settings())
    for name, value in vars(settings).items():
        if name not in MAY_CHANGE and value != before[name]:
            raise ConfigError(
                f"`--save` must be a folder of the same service, got {folder.path}, begun with {name} = "
                f"{before[name]!r}, not {value!r}. Leave the models out to go on with it, or choose another folder."
            )


def _check_is_service(folder: RunFolder, settings: Settings) -> None:
    if settings.source != POSTED:
        raise ConfigError(
            f"`--save` must be the folder of a service, got {folder.path}, a run on {settings.source}. Look at it with "
            f"`sgais serve --replay {folder.path}`, or choose another folder."
        )


def _check_has_no_rows(folder: RunFolder) -> None:
    """Rows of a service whose settings are lost would be taken for those of this one."""
    if any((folder.path / "log").glob("rows-*.log")):
        raise ConfigError(
            f"`--save` must be a new folder, or have its run.json, got {folder.path}, which has rows of another "
            "service. Choose another folder."
        )


def _token(path: Path | None) -> str | None:
    if path is None:
        return os.environ.get("SGAIS_TOKEN") or None
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"`--token-file` must be a file that can be read, got {path}: {error}.") from error
