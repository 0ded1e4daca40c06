"""`sgais changepoints`: where a stream has changed, and how sure that is."""

from typing import Annotated

import typer

from sgais.cli.arguments.model_specs import complete_model, named_specs
from sgais.cli.arguments.options import DataFlags, EstimatorFlags, SegmentFlags, expanded
from sgais.cli.arguments.settings import gather
from sgais.cli.session.followed import start
from sgais.cli.session.segmentation import Segmented


@expanded
def changepoints(
    data: DataFlags,
    estimator: EstimatorFlags,
    segments: SegmentFlags,
    models: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME=]MODEL...", help="Models as in sgais run.", autocompletion=complete_model),
    ] = None,
    source: Annotated[str | None, typer.Option("--data", "-d", metavar="SOURCE", help="As in sgais run.")] = None,
) -> None:
    """Find where the data changed: the probability of a change between any two chunks.

    \b
    Examples:
      sgais changepoints linear-regression --data people.csv -c x=height,age -c y=weight --hazard 0.002
      sgais changepoints calm=my.py:calm wild=my.py:wild -d prices.csv --chunk-size 10 --save prices
      sgais resume prices   (after Ctrl-C, or when prices.csv has grown)

    With several models, each segment has one of them. With --save DIR there are tables, a figure and a checkpoint.
    """  # noqa: D301 (a real backspace keeps the lines of the examples apart)
    specs = named_specs(models or [])
    settings = gather(specs, source, False, data, estimator, segments, chunk_size=50, hazard=1e-3)
    start(Segmented(segments.live), settings, segments)
