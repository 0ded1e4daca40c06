"""Change points on a stream: taken in, printed, saved; started or resumed."""

import json
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NoReturn

import typer
from rich.console import Console

from sgais.changepoints import ChangePoints
from sgais.checkpoint import Schedule
from sgais.cli.arguments.model_specs import models_of
from sgais.cli.arguments.options import Output, SegmentFlags
from sgais.cli.arguments.settings import Settings
from sgais.cli.arguments.strict import WARNED
from sgais.cli.output.console import console_for, print_line, print_warnings
from sgais.cli.output.segments import as_json, borders, print_segments
from sgais.cli.session import segment_tables
from sgais.cli.session.folder import RunFolder
from sgais.cli.session.interruption import PATIENCE, Interruption
from sgais.cli.session.session import config_of, history_of, open_stream, source_name
from sgais.cli.session.trust import how_to_resume
from sgais.cli.session.watched_stream import WatchedStream
from sgais.errors import DataError
from sgais.run_loop import Checkpoints, RunLoop
from sgais.streams.remote.address import without_password


def start(settings: Settings, flags: SegmentFlags) -> None:
    """Begin, and see it through."""
    folder = None if flags.save is None else RunFolder(flags.save)
    if folder is None:
        _run_to_end(_begun(settings, None), settings, None, flags)
        return
    folder.check_is_free()
    with folder.claimed():
        folder.check_is_free()  # now that nobody else can begin one
        folder.clear()
        points = _begun(settings, folder)  # says what is wrong with the settings before they are written down
        folder.begin(settings)
        _run_to_end(points, settings, folder, flags)


def segment_to_end(settings: Settings, folder: RunFolder, output: Output, is_strict: bool) -> None:
    """Continue where the folder's run stands, save and print; the exit code is that of `sgais run`."""
    _run_to_end(_begun(settings, folder), settings, folder, SegmentFlags(output=output, strict=is_strict))


def _begun(settings: Settings, folder: RunFolder | None) -> ChangePoints:
    models = models_of(settings)
    if folder is not None and folder.has_checkpoint:
        return ChangePoints.load(folder.checkpoint, models)
    assert settings.hazard is not None, "settings of a run that looks for change points"
    return ChangePoints(
        models,
        hazard=settings.hazard,
        config=config_of(settings),
        seed=settings.seed,
        history=history_of(settings.history, folder),
        bank=settings.bank,
    )


def _run_to_end(points: ChangePoints, settings: Settings, folder: RunFolder | None, flags: SegmentFlags) -> None:
    if flags.live:
        from sgais.cli.output.live_page import shown_points

        title = f"Change points in {source_name(settings)}"
        with shown_points(points, title, settings.chunk_size) as show:
            _take_in(points, settings, folder, flags, [show])
    _take_in(points, settings, folder, flags, [])


def _take_in(
    points: ChangePoints,
    settings: Settings,
    folder: RunFolder | None,
    flags: SegmentFlags,
    listeners: Sequence[Callable[[Any], None]],
) -> NoReturn:
    """Take the stream in, save and print."""
    console = console_for(is_error=True)
    print_warnings(console)
    stream = open_stream(settings, list(points.models.values()))
    checkpoints = _checkpoints(points, settings, folder)
    with Interruption(lambda: print_line(console, _last_words(points, settings, folder))) as interruption:
        loop: RunLoop[Any] = RunLoop(points, checkpoints, listeners)
        loop.run(WatchedStream(stream, interruption))
    is_interrupted = interruption.signal_number is not None
    if not points.num_rows and not is_interrupted:
        raise DataError(f"`{source_name(settings)}` must have at least one good row, got none.")
    if folder is not None and points.num_rows:
        segment_tables.write(points, folder)
        if not is_interrupted:  # a figure takes a while, and somebody waits for the process to end
            segment_tables.draw(points.segmentation, folder)
    _print(points, settings, flags.output)
    _say_what_next(console, settings, folder, is_interrupted)
    sys.stdout.flush()
    last = points.last_record
    code = WARNED if flags.strict and last is not None and last.warning else 0
    raise typer.Exit(interruption.exit_code or code)


def _checkpoints(points: ChangePoints, settings: Settings, folder: RunFolder | None) -> Checkpoints | None:
    if folder is None:
        return None
    schedule = Schedule(every_seconds=settings.checkpoint_seconds, slow_chunk_seconds=PATIENCE / 2)
    return Checkpoints(points, schedule, partial(points.save, folder.checkpoint))


def _print(points: ChangePoints, settings: Settings, output: Output) -> None:
    if output is Output.JSON:
        print(json.dumps(as_json(points, without_password(settings.source)), indent=2))
    elif output is Output.CSV:
        print(borders(points.segmentation).to_csv(index=False), end="")
    else:
        print_segments(console_for(), points)


def _say_what_next(console: Console, settings: Settings, folder: RunFolder | None, is_interrupted: bool) -> None:
    if folder is not None and is_interrupted:
        print_line(console, f"Resume with: {how_to_resume(folder, settings, 'sgais resume')}")
    elif folder is not None:
        print_line(console, f"Wrote tables, a figure and a checkpoint to {folder.path}.")
    elif is_interrupted:
        print_line(console, "Stopped. Only a run with --save DIR can be resumed.")


def _last_words(points: ChangePoints, settings: Settings, folder: RunFolder | None) -> str:
    how = "" if folder is None else f" Resume with: {how_to_resume(folder, settings, 'sgais resume')}"
    return f"Stopped after {points.num_rows:,} rows, in the midst of a chunk.{how}"
