"""Sentences for people, on either stream."""

import os
import warnings

from rich.console import Console


def console_for(is_error: bool = False) -> Console:
    """Standard output or standard error; with `NO_COLOR`, without bold letters too, which rich by itself would keep."""
    return Console(stderr=is_error, color_system=None if os.environ.get("NO_COLOR") else "auto")


def print_line(console: Console, line: str) -> None:
    """A terminal wraps it at words; elsewhere it stays one line."""
    console.print(line, markup=False, highlight=False, soft_wrap=not console.is_terminal)


def print_warnings(console: Console) -> None:
    """From now on, a warning is one line, above the view."""

    def show(message: Warning | str, *_: object, **__: object) -> None:
        print_line(console, f"warning: {message}")

    warnings.showwarning = show
