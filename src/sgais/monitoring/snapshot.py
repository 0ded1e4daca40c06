"""Where a run stands after a chunk, in the one shape that terminal, report, folder and page read."""

from typing import NamedTuple

from sgais.comparison.comparison import Comparison
from sgais.comparison.records import ModelStanding
from sgais.decisions import Decision
from sgais.monitoring.alarms import ModelAlarm, alarms_of
from sgais.online import OnlineEvidence
from sgais.results.record import EvidenceRecord


class Snapshot(NamedTuple):
    """All models after a chunk.

    Attributes:
        num_rows: Rows taken in so far.
        num_bad_rows: Rows refused so far.
        standings: The models that can continue, the most probable first.
        failures: Why the others cannot, by name.
        alarms: All so far, the oldest first.
        is_comparison: Whether the models are compared; else there is one, and it is certain.
        decision: What may be said against a null; None where nobody asked.
    """

    num_rows: int
    num_bad_rows: int
    standings: dict[str, ModelStanding]
    failures: dict[str, str]
    alarms: list[ModelAlarm]
    is_comparison: bool
    decision: Decision | None = None

    @property
    def is_doubted(self) -> bool:
        """Whether a number should not be trusted, or is missing."""
        return bool(self.failures) or any(standing.warning for standing in self.standings.values())


def snapshot_of(follower: OnlineEvidence | Comparison, name: str = "") -> Snapshot:
    """Where a run stands; `name` is that of its model where nothing is compared."""
    is_comparison = isinstance(follower, Comparison)
    standings, failures = {name: alone(None)}, {}
    if isinstance(follower, Comparison):
        standings, failures = follower.standings, follower.failures
    elif follower.last_record is not None:
        standings = {name: alone(follower.last_record)}
    ranked = sorted(standings, key=lambda one: (-standings[one].probability, -standings[one].log_evidence))
    return Snapshot(
        num_rows=follower.num_rows,
        num_bad_rows=follower.place.num_bad_rows,
        standings={one: standings[one] for one in ranked},
        failures=failures,
        alarms=alarms_of(follower, name),
        is_comparison=is_comparison,
    )


def alone(record: EvidenceRecord | None) -> ModelStanding:
    """How a model stands that is not compared; None before there are data."""
    if record is None:
        return ModelStanding(0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0, "")
    return ModelStanding(
        log_evidence=record.log_evidence,
        standard_error=record.standard_error,
        increment=record.increment,
        probability=1.0,
        low=1.0,
        high=1.0,
        weight=1.0,
        annealing_steps=record.annealing_steps,
        warning=record.warning,
        mode_doubt=record.mode_doubt,
        kernel_bias=record.kernel_bias,
    )
