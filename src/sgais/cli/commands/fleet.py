"""`sgais fleet`: models compared for each key of a stream."""

from typing import Annotated

import typer

from sgais.cli.arguments.model_specs import complete_model, named_specs
from sgais.cli.arguments.options import DataFlags, EstimatorFlags, FleetFlags, expanded
from sgais.cli.arguments.settings import gather
from sgais.cli.session.fleets import Fleets
from sgais.cli.session.followed import start
from sgais.errors import require


@expanded
def fleet(
    data: DataFlags,
    estimator: EstimatorFlags,
    flags: FleetFlags,
    models: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME=]MODEL...", help="Models as in sgais run.", autocompletion=complete_model),
    ] = None,
    source: Annotated[str | None, typer.Option("--data", "-d", metavar="SOURCE", help="As in sgais run.")] = None,
) -> None:
    """Which model is true for each sensor, customer or symbol: thousands of comparisons on one keyed stream.

    \b
    Examples:
      sgais fleet "power ~ wind" "power ~ wind + gusts" --by turbine -d farm.csv
      sgais fleet linear-regression -d rooms.parquet --by sensor -c x=hour,outside -c y=inside --save rooms
      sgais resume rooms   (after Ctrl-C, or when there are more rows)

    Printed are the keys to which most has happened: other models that lead, alarms, warnings. With --save DIR there
    are tables of all keys, a page and a checkpoint.
    """  # noqa: D301 (a real backspace keeps the lines of the examples apart)
    specs = named_specs(models or [])
    settings = gather(specs, source, True, data, estimator, flags, chunk_size=10_000)
    require(settings.by is not None, "--by", "name the column of keys", settings.by)
    start(Fleets(), settings, flags)
