"""Change points on a stream: taken in, printed, saved; started or resumed."""

import json
import sys
from functools import partial
from typing import Any

import typer
from rich.console import Console

from sgais.changepoints import ChangePoints
from sgais.checkpoint import Schedule
from sgais.cli.arguments.model_specs import models_of
from sgais.cli.arguments.options import Output, SegmentFlags
from sgais.cli.arguments.settings import Settings
from sgais.cli.arguments.strict import WARNED
from sgais.cli.output.console import console_for, print_line, print_warnings
from sgais.cli.output.segments import as_json, borders, print_segments, segments_table
from sgais.cli.session.folder import RunFolder
from sgais.cli.session.interruption import PATIENCE, Interruption
from sgais.cli.session.session import config_of, history_of, open_stream
from sgais.cli.session.trust import how_to_resume
from sgais.cli.session.watched_stream import WatchedStream
from sgais.errors import DataError
from sgais.run_loop import Checkpoints, RunLoop


def start(settings: Settings, flags: SegmentFlags) -> None:
    """Begin, and see it through."""
    folder = None if flags.save is None else RunFolder(flags.save)
    if folder is None:
        segment_to_end(settings, None, flags.output, flags.strict)
        return
    folder.check_is_free()
    with folder.claimed():
        folder.check_is_free()  # now that nobody else can begin one
        folder.clear()
        points = _begun(settings, folder)  # says what is wrong with the settings before they are written down
        folder.begin(settings)
        _run_to_end(points, settings, folder, flags.output, flags.strict)


def segment_to_end(settings: Settings, folder: RunFolder | None, output: Output, is_strict: bool) -> None:
    """Take in the stream from where it stands, save and print; the exit code is that of `sgais run`."""
    _run_to_end(_begun(settings, folder), settings, folder, output, is_strict)


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


def _run_to_end(
    points: ChangePoints, settings: Settings, folder: RunFolder | None, output: Output, is_strict: bool
) -> None:
    console = console_for(is_error=True)
    print_warnings(console)
    stream = open_stream(settings, list(points.models.values()))
    checkpoints = _checkpoints(points, settings, folder)
    with Interruption(lambda: print_line(console, _last_words(points, settings, folder))) as interruption:
        loop: RunLoop[Any] = RunLoop(points, checkpoints)
        loop.run(WatchedStream(stream, interruption))
    is_interrupted = interruption.signal_number is not None
    if not points.num_rows and not is_interrupted:
        raise DataError(f"`{settings.source}` must have at least one good row, got none.")
    if folder is not None and points.num_rows:
        _write(points, folder, has_figure=not is_interrupted)
    _print(points, settings, output)
    _say_what_next(console, settings, folder, is_interrupted)
    sys.stdout.flush()
    last = points.last_record
    code = WARNED if is_strict and last is not None and last.warning else 0
    raise typer.Exit(interruption.exit_code or code)


def _checkpoints(points: ChangePoints, settings: Settings, folder: RunFolder | None) -> Checkpoints | None:
    if folder is None:
        return None
    schedule = Schedule(every_seconds=settings.checkpoint_seconds, slow_chunk_seconds=PATIENCE / 2)
    return Checkpoints(points, schedule, partial(points.save, folder.checkpoint))


def _write(points: ChangePoints, folder: RunFolder, has_figure: bool) -> None:
    with folder.explained():
        points.to_frame().to_csv(folder.path / "records.csv", index=False)
        borders(points).to_csv(folder.path / "changes.csv", index=False)
        segments_table(points).to_csv(folder.path / "segments.csv", index=False)
        if has_figure:
            from sgais import plots  # Matplotlib is slow to import

            folder.keep(plots.change_points(points), "change_points")


def _print(points: ChangePoints, settings: Settings, output: Output) -> None:
    if output is Output.JSON:
        print(json.dumps(as_json(points, settings.source), indent=2))
    elif output is Output.CSV:
        print(borders(points).to_csv(index=False), end="")
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
