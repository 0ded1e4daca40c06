"""Keys of batches that were accepted, so that one which is sent again is not counted twice."""

import hashlib
import threading
from typing import Any, NamedTuple

import numpy as np

from sgais.serve.log.entry import NO_KEY, Entry

MOST_KEYS = 100_000  # the oldest are forgotten: at 200 batches a second, after eight minutes


class Accepted(NamedTuple):
    """What became of a batch.

    Attributes:
        first_row: The number of its first row.
        num_rows: How many rows it has.
        checksum: Of its rows; another batch under the same key is a mistake.
    """

    first_row: int
    num_rows: int
    checksum: int


class Keys:
    """The latest keys; written to by the thread that commits, read by all."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._batches: dict[bytes, Accepted] = {}  # in the order in which they came

    def add(self, entry: Entry) -> None:
        """Remember a batch, if it has a key."""
        if entry.key == NO_KEY:
            return
        with self._lock:
            self._batches[entry.key] = Accepted(entry.first_row, entry.num_rows, entry.checksum)
            while len(self._batches) > MOST_KEYS:
                del self._batches[next(iter(self._batches))]

    def find(self, key: bytes) -> Accepted | None:
        """The batch that was accepted under a key."""
        with self._lock:
            return self._batches.get(key)

    @property
    def end_row(self) -> int:
        """The row behind the last batch that has a key."""
        with self._lock:
            return max((batch.first_row + batch.num_rows for batch in self._batches.values()), default=0)

    def forget_from(self, row: int) -> None:
        """Forget the batches of rows that were given up, so that they are taken when they are sent again."""
        with self._lock:
            self._batches = {key: one for key, one in self._batches.items() if one.first_row + one.num_rows <= row}

    def state(self) -> dict[str, Any]:
        """For a checkpoint."""
        with self._lock:
            keys = np.frombuffer(b"".join(self._batches), np.uint8).reshape(-1, 16)
            return {"keys": keys, "batches": np.array(list(self._batches.values()), np.int64).reshape(-1, 3)}

    @classmethod
    def restored(cls, state: dict[str, Any]) -> "Keys":
        """The keys that had this state."""
        keys = cls()
        for key, batch in zip(state["keys"], state["batches"].tolist(), strict=True):
            keys._batches[key.tobytes()] = Accepted(*batch)
        return keys


def digest_of(key: str) -> bytes:
    """What is kept of a key: always 16 bytes, never those that mean none."""
    return hashlib.blake2b(key.encode(), digest_size=16).digest()
