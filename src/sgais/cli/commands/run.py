"""`sgais run`: the evidence of one model on a stream."""

from typing import Annotated

import typer

from sgais.cli.arguments.model_specs import complete_model
from sgais.cli.arguments.options import DataFlags, EstimatorFlags, StreamFlags, expanded
from sgais.cli.arguments.settings import gather
from sgais.cli.session.execution import start


@expanded
def run(
    data: DataFlags,
    estimator: EstimatorFlags,
    stream: StreamFlags,
    model: Annotated[
        str | None,
        typer.Argument(
            metavar="MODEL",
            help="A formula, a ready model with options, or mymodels.py:model.",
            autocompletion=complete_model,
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="SOURCE", help="CSV, NDJSON or Parquet, a directory or pattern of it, or - for standard input."
        ),
    ] = None,
) -> None:
    """The evidence of one model, while the data arrive.

    \b
    Examples:
      sgais run "weight ~ height + age" people.csv
      sgais run "visits ~ age + (1 | doctor)" visits.csv --family poisson:exposure=days
      sgais run linear-regression people.csv -c x=height,age -c y=weight
      sgais run gaussian-mixture:components=5 points.parquet -c y=a,b
      sgais run linear-regression:noise_scale=2,dim=3 data.ndjson --save my-run
      sgais run mymodels.py:model data.ndjson --chunk-size 1000 --paper
      sgais run package.module:model 'days/*.parquet' --history reservoir:10000
      tail -f log.csv | sgais run auto-regression:order=2 - --format csv
      sgais run --config run.toml --set num_particles=256 --output json

    Ctrl-C ends a run behind the present chunk; with --save, sgais resume DIR continues there, bit for bit.
    """  # noqa: D301 (a real backspace keeps the lines of the examples apart)
    models = {} if model is None else {model: model}
    start(gather(models, source, False, data, estimator, stream), stream)
