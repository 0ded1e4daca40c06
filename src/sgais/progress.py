"""How a long run tells where it is, how that is shown in the terminal, and when the run has to end."""

import html
import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, NamedTuple, TypeAlias

from rich.progress import BarColumn, TaskProgressColumn, TextColumn
from rich.progress import Progress as RichProgress

SECONDS_BETWEEN_BARS = 0.25


class Progress(NamedTuple):
    """Where a run is.

    Attributes:
        fraction: The part of the work that is done, 0 to 1, as far as can be told.
        seconds_left: The estimated time to the end; NaN while nothing can be said.
        message: A few words for a person.
    """

    fraction: float
    seconds_left: float
    message: str


Report: TypeAlias = Callable[[Progress], None]


def silent(_: Progress) -> None:
    """Report nothing."""


class OutOfTime(Exception):  # noqa: N818, it is no error: the caller turns it into a partial result
    """The time is up."""


class Deadline:
    """A clock that raises `OutOfTime` once `max_seconds` have passed; without them it only tells the time."""

    def __init__(self, max_seconds: float | None) -> None:
        self._start = time.perf_counter()
        self._max_seconds = max_seconds

    @property
    def seconds(self) -> float:
        """The time since the start."""
        return time.perf_counter() - self._start

    def check(self) -> None:
        """Continue, or raise `OutOfTime`."""
        if self._max_seconds is not None and self.seconds > self._max_seconds:
            raise OutOfTime


@contextmanager
def progress_bar(title: str) -> Iterator[Report]:
    """Show where a run is, and the time that it says is left, while the block runs; in a notebook, in its output."""
    if (display := display_in_notebook()) is not None:
        yield _notebook_bar(display, title)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TextColumn("{task.fields[left]}"))
    with RichProgress(*columns) as bar:
        task = bar.add_task(title, total=1.0, left="")

        def report(progress: Progress) -> None:
            description = f"{title}: {progress.message}"
            bar.update(task, completed=progress.fraction, description=description, left=_left(progress.seconds_left))

        yield report


def _left(seconds: float) -> str:
    return "" if math.isnan(seconds) else f"{timedelta(seconds=round(seconds))} left"


def display_in_notebook() -> Any:
    """How the notebook that this process serves displays something; None where there is none."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from IPython.display import display

    return display


def bar_of(fraction: float, words: str) -> str:
    """A bar and what stands beside it, as HTML."""
    return f"<div><progress max='1' value='{min(fraction, 1.0):.4f}'></progress> {html.escape(words)}</div>"


class _Drawn:
    """HTML that a notebook can display."""

    def __init__(self, drawn: str) -> None:
        self._drawn = drawn

    def _repr_html_(self) -> str:
        return self._drawn


def _notebook_bar(display: Any, title: str) -> Report:
    """Drawn anew in its place, a few times a second at most."""
    handle = display(_Drawn(bar_of(0.0, title)), display_id=True)
    drawn = -math.inf

    def report(progress: Progress) -> None:
        nonlocal drawn
        if progress.fraction >= 1.0 or time.monotonic() - drawn > SECONDS_BETWEEN_BARS:
            drawn = time.monotonic()
            words = f"{title}: {progress.message} {_left(progress.seconds_left)}"
            handle.update(_Drawn(bar_of(progress.fraction, words)))

    return report
