"""`sgais estimate`: the evidence of a file at hand."""

import json
import sys
from enum import StrEnum
from typing import Annotated, Any

import typer

from sgais.cli.arguments.configuration import build_config
from sgais.cli.arguments.model_specs import complete_model, models_of
from sgais.cli.arguments.options import DataFlags, EstimatorFlags, MethodFlags, Output, expanded
from sgais.cli.arguments.settings import Settings, gather
from sgais.cli.arguments.strict import WARNED
from sgais.cli.session.interruption import raising
from sgais.cli.session.session import open_stream
from sgais.errors import ConfigError
from sgais.estimate import METHODS
from sgais.estimate import estimate as estimate_evidence
from sgais.estimators.annealing_config import PaperConfig
from sgais.results.json_values import plain
from sgais.results.result import Result
from sgais.verdict import Verdict

ALL_ROWS = sys.maxsize
INTERRUPTED = 130


class Method(StrEnum):
    """The methods of `sgais.estimate`."""

    SGAIS = "sgais"
    AIS = "ais"
    NESTED = "nested"
    LAPLACE = "laplace"
    ALL = "all"


@expanded
def estimate(
    data: DataFlags,
    estimator: EstimatorFlags,
    flags: MethodFlags,
    model: Annotated[str, typer.Argument(metavar="MODEL", help="As in sgais run.", autocompletion=complete_model)],
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="As in sgais run; all of it is read into memory.")],
    method: Annotated[Method, typer.Option(help="Independent ways to the same number.")] = Method.SGAIS,
) -> None:
    """The evidence of a file, by one of four methods, or by all of them with a verdict.

    \b
    Examples:
      sgais estimate linear-regression people.csv -c x=height,age -c y=weight
      sgais estimate "weight ~ height + age" people.csv --method laplace
      sgais estimate mymodels.py:model data.csv --method nested --output json
      sgais estimate mymodels.py:model data.csv --method all --max-seconds 60
      sgais estimate mymodels.py:model data.csv --method all --set ais.num_particles=1000

    Ctrl-C prints what there is.
    """  # noqa: D301 (a real backspace keeps the lines of the examples apart)
    settings = gather({model: model}, source, False, data, estimator)
    found = models_of(settings)[model]
    if settings.paper and method is not Method.SGAIS:
        raise ConfigError(f"`--paper` must come with --method sgais, got {method.value}. Leave one of them out.")
    config = _config(method, settings)
    rows = open_stream(settings, [found]).take(ALL_ROWS)
    is_watched = sys.stdout.isatty() and flags.output is Output.TABLE
    shuffle = None if flags.in_order is None else not flags.in_order
    with raising():
        result: Result | Verdict = estimate_evidence(
            found, rows, method.value, config, settings.seed, is_watched, shuffle=shuffle, max_seconds=flags.max_seconds
        )
    _print(result, flags.output)
    results = result.results.values() if isinstance(result, Verdict) else [result]
    if any(one.status.startswith("interrupted") for one in results):
        raise typer.Exit(INTERRUPTED)
    if flags.strict and not result.is_complete:
        raise typer.Exit(WARNED)


def _config(method: Method, settings: Settings) -> Any:
    """The parameters of a method; for all of them by method, from names such as `ais.num_particles`."""
    if method is not Method.ALL:
        config = PaperConfig() if settings.paper else METHODS[method.value].config_types[0]()
        return build_config(config, settings.parameters)
    changes: dict[str, dict[str, Any]] = {}
    for name, value in settings.parameters.items():
        first, _, rest = name.partition(".")
        if first not in METHODS or not rest:
            raise ConfigError(
                f"`--set` must name a method and its parameter with --method all, got {name!r}. "
                "Write e.g. --set ais.num_particles=1000."
            )
        changes.setdefault(first, {})[rest] = value
    return {name: build_config(METHODS[name].config_types[0](), of_method) for name, of_method in changes.items()}


def _print(result: Result | Verdict, output: Output) -> None:
    if output is Output.JSON:
        found = _verdict_as_json(result) if isinstance(result, Verdict) else _as_json(result)
        print(json.dumps(plain(found), indent=2))
    elif output is Output.CSV:
        frame = result.to_frame()
        if not isinstance(result, Verdict):  # a step says nothing of the run that it is from
            frame["status"] = result.status
        print(frame.to_csv(index=False), end="")
    else:
        print(result)


def _verdict_as_json(verdict: Verdict) -> dict[str, Any]:
    found = {name: getattr(verdict, name) for name in ("log_evidence", "standard_error", "status")}
    results = {
        name: _as_json(one) | {"agrees_with": list(verdict.agreement[name])} for name, one in verdict.results.items()
    }
    believed = verdict.believe.method if verdict.believe else None
    return found | {"verdict": verdict.verdict, "believe": believed, "results": results, "missing": verdict.missing}


def _as_json(result: Result) -> dict[str, Any]:
    names = ("method", "log_evidence", "standard_error", "num_rows", "seconds", "status")
    found = {name: getattr(result, name) for name in names}
    found |= {"error_budget": result.error_budget, "diagnostics": result.diagnostics}
    return found
