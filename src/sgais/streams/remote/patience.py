"""Reading on when a server was away: again and again for a while, with a clear message at the end of it."""

import time
from collections.abc import Callable, Iterator

from sgais.errors import DataError, require
from sgais.streams.remote.address import Address
from sgais.streams.source import Piece

RETRY_SECONDS = 60.0  # that a server may be away
SHORTEST_ANSWER = 0.5  # seconds that it always may take
SHORTEST_PAUSE, LONGEST_PAUSE = 0.05, 2.0  # seconds between two attempts
BETWEEN_SIGNS = 0.05  # seconds from one sign of life to the next while nothing comes

Failures = tuple[type[BaseException], ...]


def retried(
    read_on: Callable[[], Iterator[Piece]], address: Address, failures: Failures, seconds: float
) -> Iterator[Piece]:
    """The pieces of a reader that is begun anew, where it stopped, each time that its server fails.

    Args:
        read_on: Connects and hands out what follows the last piece that it handed out.
        address: Of the server.
        failures: The errors that may pass.
        seconds: How long they may follow each other.
    """
    last_answer, delay = time.monotonic(), SHORTEST_PAUSE
    while True:
        pieces = read_on()
        try:
            for piece in pieces:
                yield piece
                last_answer, delay = time.monotonic(), SHORTEST_PAUSE
            return
        except failures as error:
            if time.monotonic() - last_answer >= seconds:
                raise unanswered(address, error, seconds) from None  # the cause may repeat a password
        finally:
            close = getattr(pieces, "close", None)
            if close is not None:
                close()
        yield from waiting(delay)
        delay = min(2 * delay, LONGEST_PAUSE)


def waiting(seconds: float) -> Iterator[Piece]:
    """Signs of life for so long."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        yield Piece({}, 0)
        time.sleep(min(left, BETWEEN_SIGNS))


def unanswered(address: Address, error: BaseException, seconds: float) -> DataError:
    """The error of a server that is not there."""
    said = " ".join(address.hide(f"{type(error).__name__}: {error}").split()).rstrip(".:? ")
    return DataError(
        f"`{address.shown}` must answer within {seconds:g} seconds, got {said}. Is the server there, and may you read? "
        "What was read so far is kept: continue once it answers."
    )


def retry_seconds(address: Address) -> float:
    """The option `retry_seconds` of an address."""
    return seconds_of("retry_seconds", address.options.get("retry_seconds", RETRY_SECONDS))


def answer_seconds(address: Address, most: float) -> float:
    """How long a server may think about one question: within the time that it may be away."""
    return min(most, max(SHORTEST_ANSWER, retry_seconds(address)))


def seconds_of(name: str, value: object) -> float:
    """A number of seconds, at least 0."""
    try:
        seconds = float(str(value))
    except ValueError:
        seconds = float("nan")
    require(seconds >= 0, name, "be a number of seconds, at least 0", value)
    return seconds


class Follow:
    """How long a stream waits for more rows: until none came for so long, or not at all."""

    def __init__(self, seconds: float | None) -> None:
        self.is_following = seconds is not None
        self._seconds = 0.0 if seconds is None else seconds_of("follow_seconds", seconds)
        self._last_news = time.monotonic()

    def note_news(self) -> None:
        """Rows have come, or the server has come back."""
        self._last_news = time.monotonic()

    @property
    def has_waited_long(self) -> bool:
        """Whether a stream that waits has waited for nothing; one that does not wait ends where its source says so."""
        return self.is_following and self.is_over

    @property
    def is_over(self) -> bool:
        """Whether nothing is to be waited for any more."""
        return time.monotonic() - self._last_news >= self._seconds
