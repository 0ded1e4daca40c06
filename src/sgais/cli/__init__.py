"""The `sgais` command; one file per subcommand: parse, call, print."""

import typer

from sgais.cli.demo import demo

app = typer.Typer(
    name="sgais",
    help="Bayesian evidence while the data arrive.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def main() -> None:
    """Bayesian evidence while the data arrive."""


app.command()(demo)
