"""A stream taken in, saved and printed; started or resumed: all of a command but what is its own."""

import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import typer
from rich.console import Console

from sgais.checkpoint import Schedule
from sgais.cli.arguments.options import Output
from sgais.cli.arguments.settings import Settings
from sgais.cli.arguments.strict import WARNED
from sgais.cli.output.console import console_for, print_line, print_warnings
from sgais.cli.session.folder import RunFolder
from sgais.cli.session.interruption import PATIENCE, Interruption
from sgais.cli.session.session import source_name
from sgais.cli.session.trust import how_to_resume
from sgais.cli.session.watched_stream import WatchedStream
from sgais.errors import DataError
from sgais.run_loop import Checkpoints, RunLoop, Streamed

Follower = TypeVar("Follower", bound=Streamed[Any])


class Flags(Protocol):
    """What a command says about itself, and not about the run."""

    @property
    def save(self) -> Path | None:
        """The folder."""

    @property
    def output(self) -> Output:
        """What to print at the end."""

    @property
    def strict(self) -> bool:
        """Whether a warning is an exit code."""


class Kind(Protocol, Generic[Follower]):
    """What is a command's own."""

    def begun(self, settings: Settings, folder: RunFolder | None) -> Follower:
        """What takes in the stream, as the settings say or from its checkpoint."""

    def stream(self, follower: Follower, settings: Settings) -> Any:
        """The chunks."""

    def shown(self, follower: Follower, settings: Settings) -> AbstractContextManager[Sequence[Callable[[Any], None]]]:
        """Who is told of each chunk, for as long as the block lasts."""

    def write(self, follower: Follower, folder: RunFolder, has_figure: bool) -> str:
        """The files for people; what they are, in words."""

    def print(self, follower: Follower, settings: Settings, output: Output) -> None:
        """The result, to standard output."""

    def has_warning(self, follower: Follower) -> bool:
        """Whether something is to beware of."""


def start(kind: Kind[Follower], settings: Settings, flags: Flags) -> None:
    """Begin, and see it through."""
    folder = None if flags.save is None else RunFolder(flags.save)
    if folder is None:
        follow_to_end(kind, settings, None, flags.output, flags.strict)
        return
    folder.check_is_free()
    with folder.claimed():
        folder.check_is_free()  # now that nobody else can begin one
        folder.clear()
        follower = kind.begun(settings, folder)  # says what is wrong with the settings before they are written down
        folder.begin(settings)
        _run_to_end(kind, follower, settings, folder, flags.output, flags.strict)


def follow_to_end(
    kind: Kind[Follower], settings: Settings, folder: RunFolder | None, output: Output, is_strict: bool
) -> None:
    """Take in the stream from where it stands, save and print; the exit code is that of `sgais run`."""
    _run_to_end(kind, kind.begun(settings, folder), settings, folder, output, is_strict)


def _run_to_end(
    kind: Kind[Follower],
    follower: Follower,
    settings: Settings,
    folder: RunFolder | None,
    output: Output,
    is_strict: bool,
) -> None:
    console = console_for(is_error=True)
    print_warnings(console)
    stream = kind.stream(follower, settings)
    checkpoints = _checkpoints(follower, settings, folder)
    with kind.shown(follower, settings) as listeners:
        with Interruption(lambda: print_line(console, _last_words(follower, settings, folder))) as interruption:
            loop: RunLoop[Any] = RunLoop(follower, checkpoints, listeners)
            loop.run(WatchedStream(stream, interruption))
        is_interrupted = interruption.signal_number is not None
        if not follower.num_rows and not is_interrupted:
            raise DataError(f"`{source_name(settings)}` must have at least one good row, got none.")
        written = "a checkpoint"
        if folder is not None and follower.num_rows:
            with folder.explained():
                written = kind.write(follower, folder, not is_interrupted)
        kind.print(follower, settings, output)
        _say_what_next(console, settings, folder, None if is_interrupted else written)
        sys.stdout.flush()
        code = WARNED if is_strict and kind.has_warning(follower) else 0
        raise typer.Exit(interruption.exit_code or code)


def _checkpoints(follower: Follower, settings: Settings, folder: RunFolder | None) -> Checkpoints | None:
    if folder is None:
        return None
    schedule = Schedule(every_seconds=settings.checkpoint_seconds, slow_chunk_seconds=PATIENCE / 2)
    return Checkpoints(follower, schedule, partial(follower.save, folder.checkpoint))


def _say_what_next(console: Console, settings: Settings, folder: RunFolder | None, written: str | None) -> None:
    """What there is to do, or where everything is: `written` says what, unless the run was interrupted."""
    if folder is not None and written is None:
        print_line(console, f"Resume with: {how_to_resume(folder, settings, 'sgais resume')}")
    elif folder is not None:
        print_line(console, f"Wrote {written} to {folder.path}.")
    elif written is None:
        print_line(console, "Stopped. Only a run with --save DIR can be resumed.")


def _last_words(follower: Follower, settings: Settings, folder: RunFolder | None) -> str:
    how = "" if folder is None else f" Resume with: {how_to_resume(folder, settings, 'sgais resume')}"
    return f"Stopped after {follower.num_rows:,} rows, in the midst of a chunk.{how}"
