"""What is sent: an event for the record of each chunk, and one for each alarm, numbered so that doubles are known."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from sgais.comparison.records import ComparisonRecord
from sgais.monitoring.alarms import ModelAlarm
from sgais.results.json_values import plain
from sgais.results.record import EvidenceRecord

RECORD, ALARM = "record", "alarm"


class EventMaker:
    """Makes the events of one run.

    Args:
        run: An identifier that stays when the run is resumed.
        job: What the run does.
        model: The name of the model where nothing is compared.
    """

    def __init__(self, run: str, job: str, model: str) -> None:
        self._run, self._job, self._model = run, job, model

    def events(
        self, sequence: int, record: EvidenceRecord | ComparisonRecord, alarms: Sequence[ModelAlarm]
    ) -> Iterator[dict[str, Any]]:
        """Those of the chunk with this number, from 1: the same whenever they are made, but for their time."""
        models: dict[str, Any] = {self._model: record}
        if isinstance(record, ComparisonRecord):
            models = dict(record.models)
        standings = {name: one._asdict() for name, one in models.items()}
        yield self._event(sequence, RECORD, f"{sequence}", {"num_rows": record.num_rows, "models": standings})
        for alarm in alarms:
            name = f"{sequence}-{alarm.model}-{alarm.signal}"
            yield self._event(sequence, ALARM, name, alarm._asdict())

    def _event(self, sequence: int, kind: str, name: str, content: dict[str, Any]) -> dict[str, Any]:
        return {
            "eventTime": datetime.now(UTC).isoformat(),
            "producer": "sgais",
            "run": {"runId": self._run},
            "job": {"namespace": "sgais", "name": self._job},
            "id": f"{self._run}-{name}",
            "sequence": sequence,
            "kind": kind,
            kind: plain(content),
        }
