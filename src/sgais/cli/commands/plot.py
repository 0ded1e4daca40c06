"""`sgais plot`: draw the figures of a run again."""

from pathlib import Path
from typing import Annotated

import typer

from sgais.cli.session import segment_tables
from sgais.cli.session.folder import RunFolder


def plot(folder: Annotated[Path, typer.Argument(metavar="DIR", help="What --save has written.")]) -> None:
    """Draw the figures of a run again, from its records.

    \b
    Example:
      sgais plot people-run
    """  # noqa: D301 (a real backspace keeps the lines of the examples apart)
    run = RunFolder(folder)
    settings = run.settings()  # says so if this is no run
    if settings.hazard is not None:
        drawn = segment_tables.draw(segment_tables.read(run)[1], run)
    else:
        drawn = run.draw(run.records(), run.alarms())
    for name in drawn:
        print(folder / name)
