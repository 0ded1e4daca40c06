"""The page of a run in this process: `--live`."""

import os
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console

from sgais.cli.arguments.strict import WARNED
from sgais.cli.output.console import print_line
from sgais.cli.serve_extra import require_extra
from sgais.cli.session.interruption import Interruption
from sgais.cli.session.session import Session

HOST = "127.0.0.1"


@contextmanager
def shown(session: Session) -> Iterator[None]:
    """Show a run on a page while the block runs it, and on until somebody presses Ctrl-C."""
    require_extra()
    from sgais.serve.app import App
    from sgais.serve.board.board import ENDED, LOCAL, RUNNING, Board
    from sgais.serve.http.security import Guard
    from sgais.serve.http.server import PageServer
    from sgais.serve.limits import Limits

    board = Board(LOCAL, session.title, list(session.models), session.settings.chunk_size)
    board.say(RUNNING)
    session.listeners.append(lambda: board.note(session.snapshot(), session.new_alarms()))
    console = Console(stderr=True)
    with PageServer(App(board, Guard(HOST, None), Limits()), HOST, 0) as server:
        print_line(console, f"The page is at {server.url}")
        if sys.stderr.isatty() and _has_screen():
            webbrowser.open(server.url)
        try:
            yield
        except typer.Exit as end:
            board.say(ENDED)
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
