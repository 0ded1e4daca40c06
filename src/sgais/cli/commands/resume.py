"""`sgais resume`: continue where a run stopped."""

from pathlib import Path
from typing import Annotated

import typer

from sgais.cli.arguments.options import Output
from sgais.cli.arguments.settings import POSTED
from sgais.cli.arguments.strict import StrictFlag
from sgais.cli.output.console import console_for, print_warnings
from sgais.cli.session.execution import run_to_end
from sgais.cli.session.fleets import Fleets
from sgais.cli.session.folder import RunFolder
from sgais.cli.session.followed import follow_to_end
from sgais.cli.session.segmentation import Segmented
from sgais.cli.session.session import Session
from sgais.cli.session.trust import TrustFlag, require_trust
from sgais.errors import ConfigError


def resume(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="What --save has written.")],
    output: Annotated[Output, typer.Option(help="What to print at the end; csv is the whole curve.")] = Output.TABLE,
    strict: StrictFlag = False,
    trust: TrustFlag = False,
) -> None:
    """Resume a run where it stopped: the same bits as if nothing had happened.

    \b
    Examples:
      sgais run mymodels.py:model people.csv --save people-run   (Ctrl-C)
      sgais resume people-run
      sgais resume people-run   (again, when people.csv has grown)

    Standard input has to bring the same rows again; those that were taken in are passed over. A folder from
    elsewhere may name code to be run: that asks for --trust.
    """  # noqa: D301 (a real backspace keeps the lines of the examples apart)
    print_warnings(console_for(is_error=True))
    run = RunFolder(folder)
    settings = run.settings()
    if settings.source == POSTED:
        raise ConfigError(f"`DIR` must be that of a run, got a service. Resume with: sgais serve --save {folder}")
    require_trust(run, settings, trust)
    with run.claimed():
        run.go_where_it_was_started(settings)
        if settings.hazard is not None:
            follow_to_end(Segmented(), settings, run, output, strict)
        if settings.by is not None:
            follow_to_end(Fleets(), settings, run, output, strict)
        run_to_end(Session(settings, run), output, strict)
