"""How much one client may ask for: bytes, rows, requests per second."""

import time
from collections import OrderedDict
from dataclasses import dataclass

from sgais.errors import require_count
from sgais.serve.refusal import RefusalError

MOST_CLIENTS = 1024  # whose requests are counted; the one that was silent longest is forgotten


@dataclass(frozen=True)
class Limits:
    """How much requests may ask for.

    Attributes:
        body_bytes: The largest body.
        batch_rows: The most rows in a batch.
        waiting_rows: The most rows that may wait to be taken in.
        requests_per_second: Of one address, over time; twice as many may come at once.
        readers: The most clients that may listen to events.
    """

    body_bytes: int = 8 * 1024 * 1024
    batch_rows: int = 10_000
    waiting_rows: int = 500_000
    requests_per_second: int = 1_000
    readers: int = 100

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            require_count(name, value)
        require_count("waiting_rows", self.waiting_rows, smallest=self.batch_rows)


class RateLimit:
    """A bucket for each address, which fills steadily and holds two seconds' worth of requests."""

    def __init__(self, per_second: float) -> None:
        self._per_second = per_second
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # requests left, as of when

    def count(self, address: str) -> None:
        """Note a request, or refuse it."""
        now, most = time.monotonic(), 2.0 * self._per_second
        left, since = self._buckets.pop(address, (most, now))
        left = min(left + (now - since) * self._per_second, most)
        self._buckets[address] = (max(left - 1.0, 0.0), now)
        if len(self._buckets) > MOST_CLIENTS:
            self._buckets.popitem(last=False)
        if left < 1.0:
            raise RefusalError(429, f"at most {self._per_second:g} requests per second. Slow down.", retry_after=1)
