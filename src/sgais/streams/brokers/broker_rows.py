"""What the streams of all brokers have in common: read, resume, and what to do while a broker is away."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from sgais.streams.brokers.messages import ROWS, MessageRows, Messages
from sgais.streams.remote.address import Address
from sgais.streams.remote.bookmarks import check_kind, skipped
from sgais.streams.remote.patience import Failures, Follow, retried, retry_seconds
from sgais.streams.source import Bookmark, Piece


class Reader(Protocol):
    """Reads one stream of a broker.

    Attributes:
        failures: The errors after which it may help to try again.
    """

    failures: Failures

    def batches(self) -> Iterator[Messages]:
        """Connect and hand out what follows the last messages handed out; none while none come."""


class BrokerRows:
    """The rows of messages.

    Args:
        kind: Of the broker, as its bookmarks say it.
        address: Where it is.
        new_reader: Makes a reader that begins behind a bookmark, or at the first message that is there.
        format_name: What messages hold.
        follow_seconds: How long to wait for more of them; None for those that are there.
    """

    total_rows: int | None = None
    column_names: list[str] | None = None
    is_at_hand = False

    def __init__(
        self,
        kind: str,
        address: Address,
        new_reader: Callable[[Bookmark | None, Follow], Reader],
        format_name: str | None,
        follow_seconds: float | None,
    ) -> None:
        self.name = address.shown
        self._kind, self._address, self._new_reader = kind, address, new_reader
        self._format_name, self._follow_seconds = format_name, follow_seconds
        self._retry_seconds = retry_seconds(address)
        MessageRows(self.name, format_name, None, {})  # refuses a format that there is not
        Follow(follow_seconds)

    def read(self, start: int, wanted: Sequence[str] | None) -> Iterator[Piece]:
        """Hand out the rows from row `start` on, counted from the first message that is there."""
        return skipped(self._read(None, wanted), start, self.name)

    def resume(self, bookmark: Bookmark, start: int, wanted: Sequence[str] | None) -> Iterator[Piece]:  # noqa: ARG002
        """Hand out the rows behind a bookmark; refuse if messages behind it are gone."""
        return self._read(check_kind(self.name, bookmark, self._kind), wanted)

    def _read(self, bookmark: Bookmark | None, wanted: Sequence[str] | None) -> Iterator[Piece]:
        rows_done: dict[str, Any] = {} if bookmark is None else bookmark[ROWS]
        rows = MessageRows(self.name, self._format_name, wanted, rows_done)
        reader = self._new_reader(bookmark, Follow(self._follow_seconds))

        def read_on() -> Iterator[Piece]:
            for messages in reader.batches():
                yield from rows.pieces(messages) if messages.payloads else [Piece({}, 0)]

        return retried(read_on, self._address, reader.failures, self._retry_seconds)


NO_MESSAGES = Messages([], [], lambda _: {})
