"""`sgais compare`: several models on one stream."""

from typing import Annotated

import typer

from sgais.cli.arguments.model_specs import complete_model, named_specs
from sgais.cli.arguments.options import DataFlags, DecisionFlags, EstimatorFlags, StreamFlags, expanded
from sgais.cli.arguments.settings import gather
from sgais.cli.session.execution import start


@expanded
def compare(
    data: DataFlags,
    estimator: EstimatorFlags,
    stream: StreamFlags,
    decision: DecisionFlags,
    models: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME=]MODEL...", help="Models as in sgais run.", autocompletion=complete_model),
    ] = None,
    model: Annotated[list[str] | None, typer.Option(metavar="NAME=MODEL", help="One more model.")] = None,
    source: Annotated[str | None, typer.Option("--data", "-d", metavar="SOURCE", help="As in sgais run.")] = None,
) -> None:
    """Compare several models while the data arrive: their evidences, and how probable each of them is.

    \b
    Examples:
      sgais compare "weight ~ height" "weight ~ height + age" -d people.csv
      sgais compare "log(weight) ~ height" gauss="weight ~ height" -d people.csv \\
        --family student-t --prior "coefficients=normal(0, 0.5)"
      sgais compare mymodels.py:first mymodels.py:second --data events.ndjson
      sgais compare all=linear-regression one=linear-regression:features=0 \\
        --data people.csv -c x=height,age -c y=weight --save people-run
      sgais compare three=gaussian-mixture:components=3 \\
        five=gaussian-mixture:components=5 --data points.csv -c y=a,b
      sgais compare same=my.py:same differs=my.py:differs -d visits.csv --null same
      cat d.csv | sgais compare my.py:first my.py:second -d - --format csv

    All models want the same columns of the source; formulas find their own. With --save DIR there are figures and a
    report, and sgais resume DIR continues.
    """  # noqa: D301 (a real backspace keeps the lines of the examples apart)
    specs = named_specs([*(models or []), *(model or [])])
    start(gather(specs, source, True, data, estimator, stream, decision), stream)
