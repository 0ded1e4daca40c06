"""`sgais check`: is a model sound?"""

from typing import Annotated

import typer
from rich.markup import escape

from sgais.cli.arguments.model_specs import complete_model, models_of
from sgais.cli.arguments.options import DataFlags, expanded
from sgais.cli.arguments.settings import gather
from sgais.cli.group import FAILURE
from sgais.cli.output.console import console_for
from sgais.cli.session.session import open_stream
from sgais.models.checks import NUM_ROWS, findings_of, made_up_rows

NO_SOURCE = "rows that are made up"


@expanded
def check(
    data: DataFlags,
    model: Annotated[str, typer.Argument(metavar="MODEL", help="As in sgais run.", autocompletion=complete_model)],
    source: Annotated[
        str | None, typer.Argument(metavar="[SOURCE]", help="Rows to try it on; ready models can do without.")
    ] = None,
) -> None:
    """Check whether a model is sound, and how fast it is.

    \b
    Examples:
      sgais check mymodels.py:model people.csv -c x=height,age -c y=weight
      sgais check gaussian-mixture:components=5,dim=2
      sgais check "weight ~ height + age" people.csv

    Looks at shapes, values at draws from the prior, gradients against finite differences, float32 against float64,
    whether rows are independent, and speed. The exit code is 1 if something is wrong.
    """  # noqa: D301 (a real backspace keeps the lines of the examples apart)
    settings = gather({model: model}, source or NO_SOURCE, False, data)
    found = models_of(settings)[model]
    rows = made_up_rows(found) if source is None else open_stream(settings, [found]).take(NUM_ROWS)
    findings = findings_of(found, rows)
    console = console_for()
    for finding in findings:
        mark = "[green]good[/]" if finding.is_good else "[bold red]WRONG[/]"
        console.print(f"{mark} [bold]{finding.what}[/]: {escape(finding.detail)}", highlight=False, soft_wrap=True)
    if not all(finding.is_good for finding in findings):
        raise typer.Exit(FAILURE)
