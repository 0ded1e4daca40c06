"""What is shown of a run: written by the thread that computes, read by everybody who asks.

Its memory does not grow with the stream.
"""

import math
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from sgais.comparison.records import ModelStanding
from sgais.monitoring.alarms import ModelAlarm
from sgais.monitoring.snapshot import Snapshot
from sgais.monitoring.throughput import Pace
from sgais.results.bands import SEPARATED
from sgais.results.json_values import plain
from sgais.serve.board.memory_use import resident_bytes
from sgais.serve.board.standing import BEFORE_MODES, COLUMNS, Remarks, column_names, numbers_of, remarks_of
from sgais.serve.board.timeline import Timeline

MOST_ALARMS = 200
COMMON = ("num_rows", "time", "rows_per_second", "memory_bytes")
SERVICE, LOCAL, REPLAY = "service", "local", "replay"
STARTING, COMPILING, RUNNING, ENDED, FAILED = "starting", "compiling", "running", "ended", "failed"


class Board:
    """Where a run stands, and how it came there.

    Args:
        mode: "service", "local" or "replay".
        title: What is looked at.
        models: Their names.
        chunk_size: Rows per chunk.
        curves: What else is kept through time, of the stream as a whole.
    """

    def __init__(
        self, mode: str, title: str, models: Sequence[str], chunk_size: int, curves: Sequence[str] = ()
    ) -> None:
        self.mode, self.title, self.models, self.chunk_size = mode, title, list(models), chunk_size
        self.common = (*COMMON, *curves)
        columns = [*self.common, *column_names(models)]
        self.timeline = Timeline(columns, column_names(models, ["annealing_steps"]))
        self.num_alarms = 0
        self.version = 0  # changes with everything that is shown
        self.num_rows = 0
        self._status, self._message = STARTING, ""
        self._alarms: deque[ModelAlarm] = deque(maxlen=MOST_ALARMS)
        self._remarks: dict[str, Remarks] = {}
        self._standings: dict[str, ModelStanding] = {}
        self._lock, self._pace = threading.RLock(), Pace()

    def note(self, snapshot: Snapshot, alarms: Sequence[ModelAlarm] = ()) -> None:
        """A chunk has been taken in; `alarms` are the new ones."""
        self.note_rows(snapshot.num_rows, (), snapshot.standings, alarms)
        with self._lock:
            self._remarks = remarks_of(snapshot)
            decision = snapshot.decision
            self._status, self._message = RUNNING, "" if decision is None else f"Decision: {decision}."

    def note_rows(
        self,
        num_rows: int,
        curves: Sequence[float],
        standings: Mapping[str, ModelStanding],
        alarms: Sequence[ModelAlarm] = (),
    ) -> None:
        """So many rows have been taken in by now; `curves` are the values of what else is kept through time."""
        self._pace.note(num_rows)
        common = (num_rows, time.time(), self._pace.rows_per_second, resident_bytes(), *curves)
        self.add_point(common, standings, alarms)

    def add_point(
        self, common: Sequence[float], standings: Mapping[str, ModelStanding], alarms: Sequence[ModelAlarm] = ()
    ) -> None:
        """A point of a saved run, or of this one; `common` are the values of what its models share."""
        values = [value for name in self.models for value in numbers_of(standings.get(name)).values()]
        with self._lock:
            self.timeline.append([*common, *values])
            self.num_rows, self._standings = int(common[0]), dict(standings)
            self._alarms.extend(alarms)
            self.num_alarms += len(alarms)
            self.version += 1

    def say(self, status: str, message: str = "") -> None:
        """What the run does now."""
        with self._lock:
            self._status, self._message = status, message
            self.version += 1

    def end(self) -> None:
        """Nothing more comes; what was said last, a decision for example, stands."""
        with self._lock:
            self.say(ENDED, self._message)

    def state(self) -> dict[str, Any]:
        """Where the run stands, as plain values (NaN is None)."""
        with self._lock:
            is_replay = self.mode == REPLAY
            found = {
                "mode": self.mode,
                "title": self.title,
                "status": self._status,
                "message": self._message,
                "version": self.version,
                "chunk_size": self.chunk_size,
                "num_rows": self.num_rows,
                "rows_per_second": None if is_replay else self._pace.rows_per_second_now,
                "memory_bytes": None if is_replay else plain(resident_bytes()),
                "models": self._models(),
                "num_alarms": self.num_alarms,
                "alarms": [alarm._asdict() for alarm in self._alarms],
            }
            return found | self._verdict()

    def records(self, first: float, last: float, most: int) -> dict[str, Any]:
        """At most `most` points of a stretch of the stream, column by column."""
        with self._lock:
            points = self.timeline.between(first, last, most)
        columns = iter(points.T.tolist())
        found: dict[str, Any] = {name: plain(next(columns)) for name in self.common}
        found["models"] = {model: {name: plain(next(columns)) for name in COLUMNS} for model in self.models}
        return found

    def saved(self) -> dict[str, Any]:
        """For a checkpoint."""
        with self._lock:
            alarms = [list(alarm) for alarm in self._alarms]
            return {"timeline": self.timeline.state(), "alarms": alarms, "num_alarms": self.num_alarms}

    def restore(self, state: dict[str, Any], snapshot: Snapshot) -> None:
        """Resume from what was saved, of a run that stands here."""
        with self._lock:
            self.timeline.restore(state["timeline"], [*COMMON, *column_names(self.models, BEFORE_MODES)])
            self._remarks = remarks_of(snapshot)
            self._alarms.extend(ModelAlarm(*alarm) for alarm in state["alarms"])
            self.num_alarms, self._standings = state["num_alarms"], dict(snapshot.standings)
            newest = self.timeline.newest
            self.num_rows = 0 if newest is None else int(newest[0])

    def remark(self, remarks: Mapping[str, Remarks]) -> None:
        """What there is to say of the models now."""
        with self._lock:
            self._remarks = dict(remarks)
            self.version += 1

    @property
    def remarks(self) -> dict[str, Remarks]:
        """What there is to say of the models."""
        with self._lock:
            return dict(self._remarks)

    @property
    def alarms(self) -> list[ModelAlarm]:
        """The latest."""
        with self._lock:
            return list(self._alarms)

    def _models(self) -> list[dict[str, Any]]:
        leader = self._leader()
        best = numbers_of(self._standings.get(leader or ""))
        found = []
        for name in self.models:
            own, remarks = numbers_of(self._standings.get(name)), self._remarks.get(name, Remarks())
            factor_error = 0.0 if name == leader else math.hypot(own["standard_error"], best["standard_error"])
            factor = own["log_evidence"] - best["log_evidence"]
            numbers = own | {"log_bayes_factor": factor, "factor_error": factor_error}
            found.append({"name": name, **plain(numbers), **remarks._asdict()})
        return found

    def _leader(self) -> str | None:
        known = {name: one.probability for name, one in self._standings.items() if math.isfinite(one.probability)}
        return max(known, key=lambda name: known[name]) if known else None

    def _verdict(self) -> dict[str, Any]:
        leader = self._leader()
        is_clear = leader is not None and len(self.models) > 1 and self._standings[leader].low > SEPARATED
        return {"leader": leader, "is_separated": is_clear}
