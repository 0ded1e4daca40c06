"""A stream that ends when a signal comes."""

from typing import Any, Self

from sgais.cli.session.interruption import Interruption, WokenError


class WatchedStream:
    """The chunks of a stream.

    Args:
        stream: Of `sgais.stream`.
        interruption: Ends it early.
    """

    def __init__(self, stream: Any, interruption: Interruption) -> None:
        self._stream, self._interruption = stream, interruption

    @property
    def position(self) -> int:
        """As the stream has it."""
        return int(self._stream.position)

    @property
    def bookmark(self) -> dict[str, Any] | None:
        """As the stream has it."""
        return self._stream.bookmark

    @property
    def num_bad_rows(self) -> int:
        """As the stream has it."""
        return int(self._stream.num_bad_rows)

    @property
    def is_stopped(self) -> bool:
        """Whether a signal has ended it."""
        return self._interruption.signal_number is not None

    def seek(self, position: int, bookmark: dict[str, Any] | None = None) -> Self:
        """Continue elsewhere."""
        self._stream.seek(position, bookmark)
        return self

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        try:
            if self._interruption.signal_number is not None:
                raise WokenError
            with self._interruption.waiting():
                return next(self._stream)
        except WokenError:
            self._interruption.acknowledge()
            raise StopIteration from None
