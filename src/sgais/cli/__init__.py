"""The `sgais` command; one file per subcommand: parse, call, print."""

from typing import Annotated

import typer

from sgais import __version__
from sgais.cli.commands.changepoints import changepoints
from sgais.cli.commands.check import check
from sgais.cli.commands.compare import compare
from sgais.cli.commands.demo import demo
from sgais.cli.commands.estimate import estimate
from sgais.cli.commands.fleet import fleet
from sgais.cli.commands.plot import plot
from sgais.cli.commands.resume import resume
from sgais.cli.commands.run import run
from sgais.cli.commands.serve import serve
from sgais.cli.group import Commands

app = typer.Typer(
    cls=Commands,
    name="sgais",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        print(f"sgais {__version__}")
        raise typer.Exit


@app.callback()
def main(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Bayesian evidence while the data arrive: how probable is all the data so far under each of my models?

    \b
    Try first:
      sgais demo
    Then, with a file of yours:
      sgais run linear-regression people.csv -c x=height,age -c y=weight
      sgais compare mymodels.py:first mymodels.py:second --data people.csv

    Every command has examples: sgais run --help.
    """  # noqa: D301 (a real backspace keeps the lines of the examples apart)


for command in (demo, run, compare, changepoints, fleet, resume, serve, plot, estimate, check):
    app.command()(command)
