"""The options that commands share, and how a command takes them all at once."""

import dataclasses
import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from sgais.cli.arguments.formulas import FormulaFlags
from sgais.cli.arguments.strict import StrictFlag
from sgais.serve.limits import Limits

LIMITS = Limits()


class Output(StrEnum):
    """How a result is printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


class OnError(StrEnum):
    """What is done with a bad row."""

    RAISE = "raise"
    SKIP = "skip"
    QUARANTINE = "quarantine"


class OnOutlier(StrEnum):
    """What is done with a row that is absurd by a model's predictive."""

    WARN = "warn"
    QUARANTINE = "quarantine"
    RAISE = "raise"


class Format(StrEnum):
    """The format of a source whose name does not tell, or of messages."""

    CSV = "csv"
    NDJSON = "ndjson"
    PARQUET = "parquet"
    JSON = "json"
    ARROW = "arrow"
    AVRO = "avro"


@dataclass(frozen=True)
class DataFlags(FormulaFlags):
    """How a source is read."""

    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--columns", "-c", metavar="NAME=COLUMN,...", help="Which columns of the source make up a model's column."
        ),
    ] = None
    categories: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN=A,B,...", help="What text in a column becomes 0, 1, ...")
    ] = None
    format: Annotated[Format | None, typer.Option(help="If the name does not tell, as for standard input.")] = None
    on_error: Annotated[OnError | None, typer.Option(help="What to do with bad rows (default: raise).")] = None
    quarantine: Annotated[str | None, typer.Option(metavar="FILE", help="A file for bad rows.")] = None


@dataclass(frozen=True)
class EstimatorFlags:
    """How the evidence is estimated."""

    seed: Annotated[int | None, typer.Option(min=0, help="Determines every random number (default: 0).")] = None
    paper: Annotated[bool | None, typer.Option("--paper", help="Use the published algorithm, unchanged.")] = None
    set: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the estimator, e.g. num_particles=256."),
    ] = None


class Combine(StrEnum):
    """How models are weighted in predictions."""

    EVIDENCE = "evidence"
    FORGETTING = "forgetting"
    STACKING = "stacking"


@dataclass(frozen=True)
class DecisionFlags:
    """What is to be decided, and how models predict together."""

    null: Annotated[
        str | None, typer.Option(metavar="NAME", help="May this model be rejected? Asked after every chunk.")
    ] = None
    level: Annotated[
        float | None, typer.Option(min=0, max=1, help="Probability of ever rejecting it if true (default: 0.05).")
    ] = None
    combine: Annotated[
        Combine | None, typer.Option(help="How models are weighted in predictions (default: evidence).")
    ] = None


@dataclass(frozen=True)
class StreamFlags:
    """How a stream is taken in and what becomes of it."""

    chunk_size: Annotated[int | None, typer.Option(min=1, help="Rows per chunk (default: 500).")] = None
    follow: Annotated[
        float | None, typer.Option(metavar="SECONDS", min=0, help="How long to wait for more rows at the end.")
    ] = None
    history: Annotated[
        str | None, typer.Option(help="How to keep the past: memory (default), disk or reservoir:100000.")
    ] = None
    on_outlier: Annotated[OnOutlier | None, typer.Option(help="What to do with absurd rows (default: quarantine).")] = (
        None
    )
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Settings in TOML; flags win.")] = None
    save: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A folder for checkpoints, records, plots and report.")
    ] = None
    checkpoint_seconds: Annotated[
        float | None, typer.Option(metavar="SECONDS", min=0, help="Time between checkpoints (default: 60).")
    ] = None
    emit: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE|URI", help="Where records and alarms are sent: a file, webhook, topic or table."),
    ] = None
    output: Annotated[Output, typer.Option(help="What to print at the end; csv is the whole curve.")] = Output.TABLE
    live: Annotated[bool, typer.Option("--live", help="Show the run on a page in the browser.")] = False
    strict: StrictFlag = False


@dataclass(frozen=True)
class SegmentFlags:
    """How change points are looked for and what becomes of them."""

    hazard: Annotated[
        float | None, typer.Option(metavar="P", help="Probability of a change before a row (default: 0.001).")
    ] = None
    bank: Annotated[int | None, typer.Option(min=2, help="Segments that are kept (default: 100).")] = None
    chunk_size: Annotated[
        int | None, typer.Option(min=1, help="Rows per chunk; changes are where chunks end (default: 50).")
    ] = None
    history: Annotated[str | None, typer.Option(help="How the rows are kept: memory (default) or disk.")] = None
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Settings in TOML; flags win.")] = None
    save: Annotated[Path | None, typer.Option(metavar="DIR", help="A folder for checkpoints, tables and a figure.")] = (
        None
    )
    checkpoint_seconds: Annotated[
        float | None, typer.Option(metavar="SECONDS", min=0, help="Time between checkpoints (default: 60).")
    ] = None
    output: Annotated[Output, typer.Option(help="What to print at the end; csv is every border.")] = Output.TABLE
    live: Annotated[bool, typer.Option("--live", help="Show it on a page in the browser.")] = False
    strict: StrictFlag = False


@dataclass(frozen=True)
class FleetFlags:
    """Whose rows they are, how they are taken in, and what becomes of them."""

    by: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column of keys: whose a row is.")] = None
    chunk_size: Annotated[int | None, typer.Option(min=1, help="Rows per chunk, of all keys (default: 10000).")] = None
    follow: Annotated[
        float | None, typer.Option(metavar="SECONDS", min=0, help="Wait so long for more rows at the end.")
    ] = None
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Settings in TOML; flags win.")] = None
    save: Annotated[Path | None, typer.Option(metavar="DIR", help="For checkpoints, tables and a page.")] = None
    checkpoint_seconds: Annotated[
        float | None, typer.Option(metavar="SECONDS", min=0, help="From one checkpoint to the next (default: 60).")
    ] = None
    output: Annotated[Output, typer.Option(help="What to print at the end; csv is every key.")] = Output.TABLE
    strict: StrictFlag = False


@dataclass(frozen=True)
class ServiceFlags(FormulaFlags):
    """How a service takes rows in and where it keeps them."""

    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--columns", "-c", metavar="NAME=COLUMN,...", help="Which columns of the rows make up a model's column."
        ),
    ] = None
    categories: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN=A,B,...", help="What text in a column becomes 0, 1, ...")
    ] = None
    chunk_size: Annotated[int | None, typer.Option(min=1, help="Rows per chunk (default: 500).")] = None
    history: Annotated[
        str | None, typer.Option(help="How to keep the past: reservoir:100000 (default), memory or disk.")
    ] = None
    on_outlier: Annotated[OnOutlier | None, typer.Option(help="What to do with absurd rows (default: quarantine).")] = (
        None
    )
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Settings in TOML; flags win.")] = None
    save: Annotated[Path | None, typer.Option(metavar="DIR", help="A folder for rows and checkpoints.")] = None
    subscribe: Annotated[
        list[str] | None, typer.Option(metavar="URI", help="Also read rows from there: mqtt://host/topic/#.")
    ] = None
    checkpoint_seconds: Annotated[
        float | None, typer.Option(metavar="SECONDS", min=0, help="Time between checkpoints (default: 60).")
    ] = None


@dataclass(frozen=True)
class ServerFlags:
    """Where a service listens, to whom, and how much clients may ask."""

    host: Annotated[str, typer.Option(help="The address to listen on; any but this machine's needs a token.")] = (
        "127.0.0.1"
    )
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 for any free port.")] = 8321
    token_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A file with the secret that clients must send (or SGAIS_TOKEN)."),
    ] = None
    max_body_bytes: Annotated[int, typer.Option(min=1, help="The largest body of a request.")] = LIMITS.body_bytes
    max_batch_rows: Annotated[int, typer.Option(min=1, help="The most rows in a batch.")] = LIMITS.batch_rows
    max_waiting_rows: Annotated[int, typer.Option(min=1, help="Rows that may wait; more are refused (429).")] = (
        LIMITS.waiting_rows
    )
    max_requests: Annotated[int, typer.Option(min=1, help="Per second, from one address.")] = LIMITS.requests_per_second
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option(metavar="ADDRESS", help="A proxy whose X-Forwarded-For is believed."),
    ] = None
    root_path: Annotated[str, typer.Option(metavar="/PATH", help="What a proxy puts before every path.")] = ""


@dataclass(frozen=True)
class RestartFlags:
    """What may be lost or changed where a service is started again."""

    accept_lost_rows: Annotated[
        bool, typer.Option("--accept-lost-rows", help="Start without acknowledged rows that are damaged or gone.")
    ] = False
    change_models: Annotated[
        bool, typer.Option("--change-models", help="Let models join or leave the service that DIR was begun with.")
    ] = False


@dataclass(frozen=True)
class MethodFlags:
    """How a data set at hand is gone through."""

    in_order: Annotated[
        bool | None,
        typer.Option("--in-order/--shuffle", help="Whether sgais takes rows as they are (default: only with --paper)."),
    ] = None
    max_seconds: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="After which ais, nested and laplace stop, each.")
    ] = None
    output: Annotated[Output, typer.Option(help="What to print; csv is the run step by step.")] = Output.TABLE
    strict: StrictFlag = False


def expanded(command: Callable[..., None]) -> Callable[..., None]:
    """Let Typer see an option for each field of the dataclasses among the parameters of a command.

    Typer reads options off a signature; without this, every command would have to repeat what it shares with others.
    """
    parameters: list[inspect.Parameter] = []
    groups: dict[str, Any] = {}
    for parameter in inspect.signature(command).parameters.values():
        kind: Any = parameter.annotation
        if dataclasses.is_dataclass(kind):
            groups[parameter.name] = kind
            parameters += _of_fields(kind)
        else:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))

    @functools.wraps(command)
    def called(**values: Any) -> None:
        packed = {
            name: group(**{field.name: values.pop(field.name) for field in dataclasses.fields(group)})
            for name, group in groups.items()
        }
        command(**values, **packed)

    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return called


def _of_fields(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
        for field in dataclasses.fields(group)
    ]
