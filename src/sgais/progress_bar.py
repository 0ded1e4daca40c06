"""A progress bar for long runs."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from rich.progress import BarColumn, TaskProgressColumn, TextColumn
from rich.progress import Progress as RichProgress

from sgais.estimators.progress import Progress, Report


@contextmanager
def progress_bar(title: str) -> Iterator[Report]:
    """Show where a run is, and the time that it says is left, while the block runs."""
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TextColumn("{task.fields[left]}"))
    with RichProgress(*columns) as bar:
        task = bar.add_task(title, total=1.0, left="")

        def report(progress: Progress) -> None:
            description = f"{title}: {progress.message}"
            bar.update(task, completed=progress.fraction, description=description, left=_left(progress.seconds_left))

        yield report


def _left(seconds: float) -> str:
    return "" if math.isnan(seconds) else f"{timedelta(seconds=round(seconds))} left"
