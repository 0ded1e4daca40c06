"""What a folder may make a process do: a run names its models, and a model may be anybody's code."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from sgais.cli.arguments.formulas import is_formula
from sgais.cli.arguments.model_specs import READY
from sgais.cli.arguments.settings import Settings
from sgais.cli.session.folder import RunFolder
from sgais.errors import ConfigError
from sgais.streams.remote.address import scheme_of, without_password

TrustFlag: TypeAlias = Annotated[
    bool, typer.Option("--trust", help="Run the code, and write to the files, that run.json in DIR names.")
]


def require_trust(folder: RunFolder, settings: Settings, is_trusted: bool) -> None:
    """Refuse a folder whose settings could do harm, unless somebody says that it may be trusted."""
    powers = list(powers_of(folder, settings))
    if not powers or is_trusted or _says_yes(folder, powers, settings):
        return
    raise ConfigError(
        f"`DIR` must be a folder that you trust, got {folder.path}, whose run.json {' and '.join(powers)}. "
        "Look at it, and say so with --trust."
    )


def powers_of(folder: RunFolder, settings: Settings) -> Iterator[str]:
    """What its settings make a process do beyond its own folder."""
    others = [spec for spec in settings.models.values() if not is_formula(spec)]  # a formula runs no code
    own = [spec for spec in others if spec.partition(":")[0] not in READY]
    if own:
        yield f"runs {', '.join(own)} of {settings.working_directory}"
    written = [settings.quarantine] if settings.quarantine else []
    written += [settings.history.partition(":")[2]] if settings.history.startswith("disk:") else []
    written += [target for target in settings.emit if not scheme_of(target)]
    for target in settings.emit:
        if scheme_of(target):
            yield f"sends results to {without_password(target)}"
    for source in settings.subscribe:  # which is told a password of the environment
        yield f"listens to {without_password(source)}"
    for path in written:
        if not (Path(settings.working_directory) / path).resolve().is_relative_to(folder.path):
            yield f"writes to {path}"


def how_to_resume(folder: RunFolder, settings: Settings, command: str) -> str:
    """The command that continues, with what it will ask for."""
    return f"{command} {folder.path}{' --trust' if any(powers_of(folder, settings)) else ''}"


def _says_yes(folder: RunFolder, powers: list[str], settings: Settings) -> bool:
    """Ask, where somebody is there to answer."""
    if settings.source == "-" or not (sys.stdin and sys.stdin.isatty() and sys.stderr and sys.stderr.isatty()):
        return False
    return typer.confirm(f"run.json in {folder.path} {' and '.join(powers)}. Do you trust it?", err=True)
