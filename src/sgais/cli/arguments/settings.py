"""All that determines a run: gathered from flags and a TOML file, kept in run.json so that it can be resumed."""

import dataclasses
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeAlias

from sgais.cli.arguments.assignments import lists, nearest, values
from sgais.cli.arguments.formulas import priors_of
from sgais.cli.arguments.options import (
    DataFlags,
    DecisionFlags,
    EstimatorFlags,
    FleetFlags,
    SegmentFlags,
    ServiceFlags,
    StreamFlags,
)
from sgais.errors import ConfigError, require
from sgais.streams.remote.address import without_password


@dataclass(frozen=True)
class Settings:
    """A run in words.

    Attributes:
        models: Specs by name.
        source: Where rows come from; "-" for standard input.
        is_comparison: Whether the models are compared, or the one there is has its evidence taken.
        columns: The source's columns for each column of the model.
        categories: Of the source's columns that hold text.
        family: Of models that are formulas.
        prior: Of their parameters by name, in words.
        levels: Of their columns that are categories.
        format: Of the source.
        on_error: What is done with bad rows.
        quarantine: Where they go.
        follow: Seconds to wait for more rows.
        chunk_size: Rows per chunk.
        seed: Of all random numbers.
        paper: Whether the estimator is the published one.
        parameters: Of the estimator, where they differ from its defaults.
        history: How the past is kept.
        checkpoint_seconds: From one checkpoint to the next.
        null: The model of a comparison that is doubted (`Comparison.decide`); None if none is.
        level: The largest probability of rejecting a true null.
        combine: How models are weighted in predictions.
        hazard: Of a change before a row, where change points are looked for; None where they are not.
        bank: Segments that are kept then.
        by: The column of keys, where models are compared for each; None where they are not.
        on_outlier: What is done with rows that are absurd by a model's predictive.
        emit: Where records and alarms are sent.
        subscribe: What a service listens to.
        working_directory: The folder that relative paths are meant from.
    """

    models: dict[str, str]
    source: str
    is_comparison: bool = False
    columns: dict[str, str | list[str]] = field(default_factory=dict)
    categories: dict[str, list[Any]] = field(default_factory=dict)
    family: str = "gaussian"
    prior: dict[str, str] = field(default_factory=dict)
    levels: dict[str, list[Any]] = field(default_factory=dict)
    format: str | None = None
    on_error: str = "raise"
    quarantine: str | None = None
    follow: float | None = None
    chunk_size: int = 500
    seed: int = 0
    paper: bool = False
    parameters: dict[str, Any] = field(default_factory=dict)
    history: str = "memory"
    checkpoint_seconds: float = 60.0
    null: str | None = None
    level: float = 0.05
    combine: str = "evidence"
    hazard: float | None = None
    bank: int = 100
    by: str | None = None
    on_outlier: str = "quarantine"
    emit: list[str] = field(default_factory=list)
    subscribe: list[str] = field(default_factory=list)
    working_directory: str = "."

    def to_json(self) -> str:
        """For run.json; passwords in URIs are left out, and taken from the environment when resumed."""
        kept: dict[str, Any] = {"source": without_password(self.source)}
        kept |= {name: [without_password(uri) for uri in getattr(self, name)] for name in ("emit", "subscribe")}
        return json.dumps(dataclasses.asdict(self) | kept, indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Settings":
        """What `to_json` wrote."""
        said = json.loads(text)
        if not isinstance(said, dict) or not isinstance(said.get("models"), dict):
            raise ValueError("no settings")
        return cls(**said)


POSTED = "observations that are posted"  # the source of a service
IN_TABLES = ("columns", "categories", "parameters", "prior", "levels")
ABOUT_THE_COMMAND = ("save", "output", "live", "strict")  # and not about the run, which may be resumed by another


Flags: TypeAlias = DataFlags | DecisionFlags | EstimatorFlags | FleetFlags | SegmentFlags | StreamFlags | ServiceFlags


def gather(
    models: Mapping[str, str], source: str | None, is_comparison: bool, *flags: Flags, **defaults: Any
) -> Settings:
    """The settings that a command line means; what it does not say, its TOML file says, or else the defaults."""
    given = _given(flags)
    said = _read_toml(given.pop("config", None))
    found: dict[str, Any] = dict(models) or said.pop("models", {})
    source = source or said.pop("source", None)
    if not found or not source:
        what = "MODEL" if not found else "SOURCE"
        raise ConfigError(f"`{what}` must be given, in the command or in the file of --config, got none.")
    for name in IN_TABLES:
        given[name] = said.pop(name, {}) | given.get(name, {})
    settings = Settings(
        found, str(source), is_comparison, **(defaults | said | given), working_directory=str(Path.cwd())
    )
    _check_decision(settings)
    return settings


def _check_decision(settings: Settings) -> None:
    null, names = settings.null, list(settings.models)
    if null is None:
        return
    if null not in names or len(names) < 2:
        raise ConfigError(f"`--null` must name one of several models, got {null!r}. {nearest(null, names)}")
    require(0 < settings.level < 1, "--level", "lie between 0 and 1", settings.level)
    if settings.history.startswith("reservoir"):
        raise ConfigError(f"`--null` must see all rows, got --history {settings.history}. Use memory or disk.")


def _given(flags: Sequence[Flags]) -> dict[str, Any]:
    """What the flags say, without those that were left out."""
    given = {name: value for group in flags for name, value in vars(group).items() if value is not None}
    for name in ABOUT_THE_COMMAND:
        given.pop(name, None)
    given["columns"] = columns_of(given.pop("columns", []))
    given["categories"] = lists("--categories", given.pop("categories", []))
    given["prior"] = priors_of(given.pop("prior", []))
    given["levels"] = lists("--levels", given.pop("levels", []))
    given["parameters"] = values("--set", given.pop("set", []))
    return {name: str(value) if isinstance(value, StrEnum) else value for name, value in given.items()}


def columns_of(texts: Sequence[str]) -> dict[str, str | list[str]]:
    """The mapping that `--columns x=a,b --columns y=c` means: one name is a column, several are features of a row."""
    mapping = lists("--columns", texts)
    # A model with features has them in `x`, also where there is only one; `y` is a plain column.
    return {name: names[0] if len(names) == 1 and name != "x" else names for name, names in mapping.items()}


def _read_toml(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"`--config` must be a TOML file that can be read, got {path}: {error}.") from error
    known = [
        each.name for each in dataclasses.fields(Settings) if each.name not in ("is_comparison", "working_directory")
    ]
    for name in said:
        if name not in known:
            raise ConfigError(f"`{path}` must hold settings of a run, got {name!r}. {nearest(name, known)}")
    if isinstance(said.get("models"), list):
        said["models"] = {spec: spec for spec in said["models"]}
    if isinstance(said.get("models"), str):
        said["models"] = {said["models"]: said["models"]}
    return said
