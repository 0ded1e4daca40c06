"""What the streams of all brokers have in common: read, resume, and what to do while a broker is away."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from sgais.streams.brokers.messages import ROWS, MessageRows, Messages
from sgais.streams.remote.address import Address
from sgais.streams.remote.bookmarks import check_kind, skipped
from sgais.streams.remote.patience import Failures, Follow, answer_seconds, retried, retry_seconds
from sgais.streams.source import Bookmark, Piece

LONGEST_ANSWER = 5.0  # seconds


class Reader(ABC):
    """Reads one stream of a broker.

    Args:
        address: Of the stream.
        bookmark: Where to begin; at the first message that is there if None.
        follow: How long to wait.

    Attributes:
        kind: Of the broker, as its bookmarks say it.
        password_variable: Of the environment.
        options: That its URIs may have, beside those that all have.
        failures: The errors after which it may help to try again.
    """

    kind: ClassVar[str]
    password_variable: ClassVar[str]
    options: ClassVar[tuple[str, ...]]
    failures: Failures

    def __init__(self, address: Address, bookmark: Bookmark | None, follow: Follow) -> None:
        self._address, self._follow = address, follow
        self._answer_seconds = answer_seconds(address, LONGEST_ANSWER)
        self._begin_behind(bookmark)

    @abstractmethod
    def _begin_behind(self, bookmark: Bookmark | None) -> None:
        """Set the position."""

    @abstractmethod
    def batches(self) -> Iterator[Messages]:
        """Connect and hand out what follows the last messages handed out; none while none come."""


class BrokerRows:
    """The rows of messages.

    Args:
        broker: Reads them.
        uri: Where they are.
        format_name: What messages hold.
        follow_seconds: How long to wait for more of them; None for those that are there.
    """

    total_rows: int | None = None
    column_names: list[str] | None = None
    is_at_hand = False

    def __init__(self, broker: type[Reader], uri: str, follow_seconds: float | None, format_name: str | None) -> None:
        self._broker = broker
        address = self._address = Address.of(uri, broker.password_variable, (*broker.options, "retry_seconds"))
        self.name = address.shown
        self._format_name, self._follow_seconds = format_name, follow_seconds
        self._retry_seconds = retry_seconds(address)
        MessageRows(self.name, format_name, None, {})  # refuses a format that there is not
        Follow(follow_seconds)

    def read(self, start: int, wanted: Sequence[str] | None) -> Iterator[Piece]:
        """Hand out the rows from row `start` on, counted from the first message that is there."""
        return skipped(self._read(None, wanted), start, self.name)

    def resume(self, bookmark: Bookmark, start: int, wanted: Sequence[str] | None) -> Iterator[Piece]:  # noqa: ARG002
        """Hand out the rows behind a bookmark; refuse if messages behind it are gone."""
        return self._read(check_kind(self.name, bookmark, self._broker.kind), wanted)

    def _read(self, bookmark: Bookmark | None, wanted: Sequence[str] | None) -> Iterator[Piece]:
        rows_done: dict[str, Any] = {} if bookmark is None else bookmark[ROWS]
        rows = MessageRows(self.name, self._format_name, wanted, rows_done)
        reader = self._broker(self._address, bookmark, Follow(self._follow_seconds))

        def read_on() -> Iterator[Piece]:
            for messages in reader.batches():
                yield from rows.pieces(messages) if messages.payloads else [Piece({}, 0)]

        return retried(read_on, self._address, reader.failures, self._retry_seconds)


NO_MESSAGES = Messages([], [], lambda _: {})
