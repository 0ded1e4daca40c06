"""`sgais estimate`: the evidence of a file at hand."""

import json
import math
import sys
from enum import StrEnum
from typing import Annotated, Any

import typer

from sgais.cli.configuration import build_config
from sgais.cli.interruption import raising
from sgais.cli.model_specs import complete_model, model_of
from sgais.cli.options import DataFlags, EstimatorFlags, Output, expanded
from sgais.cli.session import open_stream
from sgais.cli.settings import gather
from sgais.errors import ConfigError
from sgais.estimate import METHODS
from sgais.estimate import estimate as estimate_evidence
from sgais.estimators.paper import PaperConfig
from sgais.estimators.result import Result

ALL_ROWS = sys.maxsize
INTERRUPTED = 130


class Method(StrEnum):
    """The methods of `sgais.estimate`."""

    SGAIS = "sgais"
    AIS = "ais"
    NESTED = "nested"
    LAPLACE = "laplace"


@expanded
def estimate(
    data: DataFlags,
    estimator: EstimatorFlags,
    model: Annotated[str, typer.Argument(metavar="MODEL", help="As in sgais run.", autocompletion=complete_model)],
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="As in sgais run; all of it is read into memory.")],
    method: Annotated[Method, typer.Option(help="Independent ways to the same number.")] = Method.SGAIS,
    output: Annotated[Output, typer.Option(help="What to print; csv is the run step by step.")] = Output.TABLE,
) -> None:
    """The evidence of a file, by one of four methods.

    \b
    Examples:
      sgais estimate linear-regression people.csv -c x=height,age -c y=weight
      sgais estimate mymodels.py:model data.parquet --method laplace
      sgais estimate mymodels.py:model data.csv --method nested --output json

    Ctrl-C prints what there is.
    """  # noqa: D301 (a real backspace keeps the lines of the examples apart)
    settings = gather({model: model}, source, False, data, estimator)
    found = model_of(model, settings.columns)
    if settings.paper and method is not Method.SGAIS:
        raise ConfigError(f"`--paper` must come with --method sgais, got {method.value}. Leave one of them out.")
    config = PaperConfig() if settings.paper else METHODS[method.value].config_types[0]()
    config = build_config(config, settings.parameters)
    rows = open_stream(settings, [found]).take(ALL_ROWS)
    is_watched = sys.stdout.isatty() and output is Output.TABLE
    with raising():
        result = estimate_evidence(found, rows, method.value, config, settings.seed, progress=is_watched)
    _print(result, output)
    if result.status.startswith("interrupted"):
        raise typer.Exit(INTERRUPTED)


def _print(result: Result, output: Output) -> None:
    if output is Output.JSON:
        print(json.dumps(_as_json(result), indent=2))
    elif output is Output.CSV:
        print(result.to_frame().to_csv(index=False), end="")
    else:
        print(result)


def _as_json(result: Result) -> dict[str, Any]:
    names = ("method", "log_evidence", "standard_error", "num_rows", "seconds", "status")
    found = {name: getattr(result, name) for name in names}
    found |= {"error_budget": result.error_budget, "diagnostics": result.diagnostics}
    return {name: _without_nan(value) for name, value in found.items()}


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nan(float(entry)) for name, entry in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value
