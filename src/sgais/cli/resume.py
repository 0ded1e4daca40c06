"""`sgais resume`: go on where a run stopped."""

import os
from pathlib import Path
from typing import Annotated

import typer

from sgais.cli.execution import see_through
from sgais.cli.folder import RunFolder
from sgais.cli.options import Output
from sgais.cli.session import Session
from sgais.errors import ConfigError


def resume(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="What --save has written.")],
    output: Annotated[Output, typer.Option(help="What to print at the end; csv is the whole curve.")] = Output.TABLE,
) -> None:
    """Go on with a run where it stopped: the same bits as if nothing had happened.

    \b
    Examples:
      sgais run mymodels.py:model people.csv --save people-run   (Ctrl-C)
      sgais resume people-run
      sgais resume people-run   (again, when people.csv has grown)

    Standard input has to bring the same rows again; those that were taken in are passed over.
    """  # noqa: D301 (a real backspace keeps the lines of the examples apart)
    run = RunFolder(folder)
    settings = run.settings()
    try:
        os.chdir(settings.working_directory)  # where the paths of the run are meant from
    except OSError as error:
        raise ConfigError(
            f"`working_directory` of {run.path / 'run.json'} must be a folder, got {settings.working_directory}: "
            f"{error.strerror}. Correct it there."
        ) from error
    see_through(Session(settings, run), output)
