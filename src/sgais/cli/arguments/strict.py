"""`--strict`: a number that should not be trusted is to show in the exit code, for scripts that read nothing else."""

from typing import Annotated, TypeAlias

import typer

from sgais.monitoring.snapshot import Snapshot

WARNED = 3  # the exit code: all was done, printed and saved, but a number carries a warning

StrictFlag: TypeAlias = Annotated[
    bool, typer.Option("--strict", help=f"Exit code {WARNED} if a number carries a warning at the end.")
]


def code_of(snapshot: Snapshot, is_strict: bool) -> int:
    """The exit code of a run that came to its end."""
    return WARNED if is_strict and snapshot.is_doubted else 0
