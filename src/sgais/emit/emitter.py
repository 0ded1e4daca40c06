"""Sends events, at least once: what a sink has not taken waits, and is sent again, also after a kill.

A run never stops for a sink that is away. How far each sink has come is kept in the folder of the run; what a resumed
run has not sent by that is made anew from its records.
"""

import json
import os
import time
import uuid
import warnings
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sgais.comparison.comparison import Comparison
from sgais.emit.events import EventMaker
from sgais.emit.sinks import Sink, sink_of
from sgais.errors import SgaisError
from sgais.monitoring.alarms import alarms_of, new_alarms
from sgais.online import OnlineEvidence
from sgais.streams.remote.address import without_password

SECONDS_BETWEEN_TRIES = 5.0  # once a sink has failed
MOST_AT_ONCE = 500  # events


class Emitter:
    """Tells sinks of every chunk.

    Args:
        targets: Paths and URIs.
        follower: What takes in the chunks.
        title: Of the run.
        model: The name of the model where nothing is compared.
        state: Where it is kept how far each sink has come; not at all if None.
    """

    def __init__(
        self,
        targets: Sequence[str],
        follower: OnlineEvidence | Comparison,
        title: str,
        model: str,
        state: Path | None,
    ) -> None:
        self._follower, self._model, self._state = follower, model, state
        self._channels = {without_password(target): _Channel(without_password(target), target) for target in targets}
        before = _read(state)
        self._run = before.get("run") or str(uuid.uuid4())
        self._maker = EventMaker(self._run, title, model)
        self._sequence = 0
        sent = before.get("sent", {})
        for record in follower.records:
            self._sequence += 1
            alarms = [alarm for alarm in alarms_of(follower, model) if alarm.row == record.num_rows]
            events = list(self._maker.events(self._sequence, record, alarms))
            for shown, channel in self._channels.items():
                if self._sequence > sent.get(shown, 0):
                    channel.waiting.extend(events)
                else:
                    channel.sent = self._sequence
        self._note()

    def after_chunk(self) -> None:
        """Send what the newest chunk has given, and what waits."""
        record = self._follower.last_record
        assert record is not None, "a chunk was taken in"
        self._sequence += 1
        events = list(self._maker.events(self._sequence, record, new_alarms(self._follower, self._model)))
        for channel in self._channels.values():
            channel.waiting.extend(events)
            channel.send()
        self._note()

    def close(self) -> None:
        """Try for a last time; what is left is sent when the run is resumed."""
        for channel in self._channels.values():
            channel.send(is_last=True)
        self._note()

    def _note(self) -> None:
        if self._state is None:
            return
        content = {"run": self._run, "sent": {shown: channel.sent for shown, channel in self._channels.items()}}
        unfinished = self._state.with_name(self._state.name + ".unfinished")
        try:
            unfinished.write_text(json.dumps(content), encoding="utf-8")
            os.replace(unfinished, self._state)  # noqa: PTH105 (the same, and says what it does)
        except OSError as error:
            warnings.warn(f"it could not be noted what was sent: {error.strerror}", stacklevel=2)


class _Channel:
    """One sink, and what waits for it."""

    def __init__(self, shown: str, target: str) -> None:
        self.waiting: deque[dict[str, Any]] = deque()
        self.sent = 0  # the last chunk of which all events were taken
        self._shown = shown
        self._sink: Sink = sink_of(target)
        self._next_try = 0.0

    def send(self, is_last: bool = False) -> None:
        """All that waits, unless the sink has failed a moment ago."""
        if time.monotonic() < self._next_try and not is_last:
            return
        try:
            while self.waiting:
                events = [self.waiting[place] for place in range(min(MOST_AT_ONCE, len(self.waiting)))]
                self._sink.send(events)
                for event in events:
                    self.waiting.popleft()
                    self.sent = event["sequence"] - 1 if self.waiting else event["sequence"]
        except SgaisError as error:
            self._postpone(str(error))
        except Exception as error:  # whatever the client of a sink says; it may name a password
            self._postpone(type(error).__name__)

    def _postpone(self, reason: str) -> None:
        if not self._next_try:
            warnings.warn(
                f"results wait for {self._shown}, which did not take them ({reason}); they will be sent again.",
                stacklevel=2,
            )
        self._next_try = time.monotonic() + SECONDS_BETWEEN_TRIES


def _read(state: Path | None) -> dict[str, Any]:
    if state is None or not state.exists():
        return {}
    try:
        found = json.loads(state.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}  # then everything is sent again
    return found if isinstance(found, dict) else {}
