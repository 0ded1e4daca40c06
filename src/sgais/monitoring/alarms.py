"""Alarms of the models' shift detectors, as terminal, report, folder and page show them."""

from typing import NamedTuple

from sgais.comparison.comparison import Comparison
from sgais.online import OnlineEvidence
from sgais.shift import Alarm


class ModelAlarm(NamedTuple):
    """A change of the data, as one model has noticed it; the fields of `sgais.shift.Alarm`, and the model's name."""

    model: str
    row: int
    location: int
    signal: str
    size: float


def members_of(follower: OnlineEvidence | Comparison, name: str) -> dict[str, OnlineEvidence]:
    """The evidences that a run keeps; `name` is that of the only one where nothing is compared."""
    if isinstance(follower, OnlineEvidence):
        return {name: follower}
    return {one: follower[one] for one in follower.names}


def alarms_of(follower: OnlineEvidence | Comparison, name: str = "") -> list[ModelAlarm]:
    """All so far, the oldest first."""
    members = members_of(follower, name)
    found = [ModelAlarm(one, *alarm) for one in members for alarm in _alarms(members[one])]
    return sorted(found, key=lambda alarm: alarm.row)


def new_alarms(follower: OnlineEvidence | Comparison, name: str = "") -> list[ModelAlarm]:
    """Those that the newest chunk has raised; the detector of a model that has failed has not seen it."""
    return [
        ModelAlarm(one, *member.detector.alarms[-1])
        for one, member in members_of(follower, name).items()
        if member.detector is not None
        and member.detector.drift_detected
        and member.detector.num_rows == follower.num_rows
    ]


def _alarms(member: OnlineEvidence) -> list[Alarm]:
    return [] if member.detector is None else member.detector.alarms
