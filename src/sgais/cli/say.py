"""Sentences for people, on either stream."""

import warnings

from rich.console import Console


def say(console: Console, line: str) -> None:
    """A terminal wraps it at words; elsewhere it stays one line."""
    console.print(line, markup=False, highlight=False, soft_wrap=not console.is_terminal)


def say_warnings(console: Console) -> None:
    """From now on, a warning is one line, above the view."""

    def show(message: Warning | str, *_: object, **__: object) -> None:
        say(console, f"warning: {message}")

    warnings.showwarning = show
