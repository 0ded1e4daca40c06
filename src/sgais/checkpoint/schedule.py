"""When to write the next checkpoint."""

import time
from dataclasses import dataclass, field

from sgais.errors import is_number, require, require_count


@dataclass
class Schedule:
    """A checkpoint every so many chunks, or seconds, whichever comes first.

    Attributes:
        every_chunks: Chunks from one to the next; None for no such limit.
        every_seconds: Seconds from one to the next; None for no such limit.
        slow_chunk_seconds: Seconds for a chunk that is worth a checkpoint by itself; None if none is.
    """

    every_chunks: int | None = None
    every_seconds: float | None = 60.0
    slow_chunk_seconds: float | None = None
    _chunks: int = field(default=0, init=False)
    _since: float = field(default_factory=time.monotonic, init=False)
    _last_chunk: float = field(default_factory=time.monotonic, init=False)

    def __post_init__(self) -> None:
        if self.every_chunks is not None:
            require_count("every_chunks", self.every_chunks)
        has_time = self.every_seconds is None or (is_number(self.every_seconds) and self.every_seconds >= 0)
        require(has_time, "every_seconds", "be None or at least 0", self.every_seconds)

    def is_due(self) -> bool:
        """Whether it is time, now that another chunk has been taken in."""
        self._chunks, now = self._chunks + 1, time.monotonic()
        by_slowness = self.slow_chunk_seconds is not None and now - self._last_chunk >= self.slow_chunk_seconds
        self._last_chunk = now
        by_chunks = self.every_chunks is not None and self._chunks >= self.every_chunks
        by_time = self.every_seconds is not None and now - self._since >= self.every_seconds
        if not (by_chunks or by_time or by_slowness):
            return False
        self._chunks, self._since = 0, now
        return True
