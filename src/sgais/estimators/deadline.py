"""When a run has to end: asked between any two heavy steps."""

import time


class OutOfTime(Exception):  # noqa: N818, it is no error: the caller turns it into a partial result
    """The time is up."""


class Deadline:
    """A clock that raises `OutOfTime` once `max_seconds` have passed; without them it only tells the time."""

    def __init__(self, max_seconds: float | None) -> None:
        self._start = time.perf_counter()
        self._max_seconds = max_seconds

    @property
    def seconds(self) -> float:
        """The time since the start."""
        return time.perf_counter() - self._start

    def check(self) -> None:
        """Go on, or raise `OutOfTime`."""
        if self._max_seconds is not None and self.seconds > self._max_seconds:
            raise OutOfTime
