"""The page of a run in this process: `--live`."""

import os
import sys
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer
from rich.console import Console

from sgais.changepoints import ChangePoints
from sgais.cli.arguments.strict import WARNED
from sgais.cli.output.console import print_line
from sgais.cli.serve_extra import require_extra
from sgais.cli.session.interruption import Interruption
from sgais.cli.session.session import Session

if TYPE_CHECKING:
    from sgais.serve.board.board import Board

HOST = "127.0.0.1"


@contextmanager
def shown(session: Session) -> Iterator[None]:
    """Show a run on a page while the block runs it, and on until somebody presses Ctrl-C."""
    require_extra()
    from sgais.serve.board.board import LOCAL, Board

    board = Board(LOCAL, session.title, list(session.models), session.settings.chunk_size)
    session.listeners.append(lambda: board.note(session.snapshot(), session.new_alarms()))
    with _on_a_page(board):
        yield


@contextmanager
def shown_points(points: ChangePoints, title: str, chunk_size: int) -> Iterator[Callable[[object], None]]:
    """Show change points in the same way; what the block is given is to be called after every chunk."""
    require_extra()
    from sgais.serve.board.board import LOCAL
    from sgais.serve.board.segmented import SegmentedBoard

    board = SegmentedBoard(LOCAL, title, list(points.models), chunk_size)
    with _on_a_page(board, lambda: board.segment(points.segmentation)):
        yield lambda _: board.note_points(points)


@contextmanager
def _on_a_page(board: "Board", at_the_end: Callable[[], None] = lambda: None) -> Iterator[None]:
    from sgais.serve.app import App
    from sgais.serve.board.board import RUNNING
    from sgais.serve.http.security import Guard
    from sgais.serve.http.server import PageServer
    from sgais.serve.limits import Limits

    board.say(RUNNING)
    console = Console(stderr=True)
    with PageServer(App(board, Guard(HOST, None), Limits()), HOST, 0) as server:
        print_line(console, f"The page is at {server.url}")
        if sys.stderr.isatty() and _has_screen():
            webbrowser.open(server.url)
        try:
            yield
        except typer.Exit as end:
            at_the_end()
            board.end()
            if end.exit_code in (0, WARNED):
                _wait(console, server.url)
            raise


def _has_screen() -> bool:
    """A browser in the terminal would draw over the run."""
    return sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def _wait(console: Console, url: str) -> None:
    """Somebody may still look at the page."""
    print_line(console, f"The page stays at {url} until Ctrl-C.")
    sys.stdout.flush()
    with Interruption() as interruption:
        interruption.wait()
