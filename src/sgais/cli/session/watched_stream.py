"""A stream that is looked at while it is taken in, and that ends when a signal comes."""

from collections.abc import Callable
from typing import Any, Self

from sgais.cli.session.interruption import Interruption, WokenError


class WatchedStream:
    """The chunks of a stream.

    Args:
        stream: Of `sgais.stream`.
        interruption: Ends it early.
        after_chunk: Called when a chunk has been taken in, that is, when the next one is asked for.
    """

    def __init__(self, stream: Any, interruption: Interruption, after_chunk: Callable[[], None]) -> None:
        self._stream, self._interruption, self._after_chunk = stream, interruption, after_chunk
        self._has_delivered = False

    @property
    def position(self) -> int:
        """As the stream has it."""
        return int(self._stream.position)

    @property
    def num_bad_rows(self) -> int:
        """As the stream has it."""
        return int(self._stream.num_bad_rows)

    def seek(self, position: int) -> Self:
        """Go on elsewhere."""
        self._stream.seek(position)
        return self

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        if self._has_delivered:
            self._after_chunk()
            self._has_delivered = False
        try:
            if self._interruption.signal_number is not None:
                raise WokenError
            with self._interruption.waiting():
                chunk = next(self._stream)
        except WokenError:
            self._interruption.acknowledge()
            raise StopIteration from None
        self._has_delivered = True
        return chunk
