"""What the page shows of how a model stands: numbers that are kept through time, and words of now."""

from collections.abc import Sequence
from typing import NamedTuple

from sgais.comparison.records import ModelStanding
from sgais.monitoring.snapshot import Snapshot

# The error is Monte Carlo's; bias and doubt are shown by their size, and `is_warned` is 1 where log Z should not be
# trusted. Boards are saved with the names of their columns, so that they may become more.
COLUMNS = (
    "log_evidence",
    "standard_error",
    "kernel_bias",
    "probability",
    "low",
    "high",
    "annealing_steps",
    "mode_doubt",
    "is_warned",
)
BEFORE_MODES = COLUMNS[:7]  # of boards that were saved without the names of their columns
UNKNOWN = dict.fromkeys(COLUMNS, float("nan"))


class Remarks(NamedTuple):
    """What there is to say of a model in words."""

    warning: str = ""
    failure: str = ""


def numbers_of(standing: ModelStanding | None) -> dict[str, float]:
    """By column; nothing is known of a model that has failed."""
    if standing is None:
        return UNKNOWN
    sizes = {"kernel_bias": abs(standing.kernel_bias), "mode_doubt": abs(standing.mode_doubt)}
    found = standing._asdict() | sizes | {"is_warned": float(bool(standing.warning))}
    return {name: float(found[name]) for name in COLUMNS}


def remarks_of(snapshot: Snapshot) -> dict[str, Remarks]:
    """The remarks on all models."""
    warned = {name: Remarks(warning=standing.warning) for name, standing in snapshot.standings.items()}
    return warned | {name: Remarks(failure=why) for name, why in snapshot.failures.items()}


def column_names(models: Sequence[str], names: Sequence[str] = COLUMNS) -> list[str]:
    """The columns of a timeline: each of these numbers for each model."""
    return [f"{model}\n{name}" for model in models for name in names]
