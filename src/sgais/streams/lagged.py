"""Rows for auto-regression: each value of a series with the values before it."""

from typing import Self, overload

import numpy as np
import numpy.typing as npt

from sgais.errors import DataError, require, require_count
from sgais.fields import Chunk
from sgais.streams.source import Bookmark
from sgais.streams.stream import Stream


@overload
def lagged(series: Stream, order: int) -> "LaggedStream": ...
@overload
def lagged(series: npt.ArrayLike, order: int) -> Chunk: ...
def lagged(series: Stream | npt.ArrayLike, order: int) -> "Chunk | LaggedStream":
    """The rows of an auto-regression of given order: `{"x": (n, order), "y": (n,)}`, newest lag first.

    The first `order` values have no complete past: they appear in `x` only, so n = len(series) - order.

    Args:
        series: One series, or a stream with the one column `y`, which becomes a stream.
        order: The number of lagged values.

    Example:
        >>> rows = sgais.streams.lagged([1.0, 2.0, 3.0, 4.0], order=2)
        >>> rows["x"].tolist(), rows["y"].tolist()
        ([[2.0, 1.0], [3.0, 2.0]], [3.0, 4.0])
    """
    require_count("order", order)
    if isinstance(series, Stream):
        return LaggedStream(series, order)
    values = np.asarray(series)
    if values.ndim != 1 or len(values) <= order:
        raise DataError(
            f"`series` must be one-dimensional and longer than the order {order}, got shape {values.shape}."
        )
    return _lagged_rows(values, order)


_NO_PAST = np.empty(0)


class LaggedStream:
    """The lagged rows of a stream, chunk by chunk: only the first chunk is `order` rows short.

    Positions are those of the series. After `seek` the `order` values before the position are read again, so that
    the chunks which follow are the same as without a break.
    """

    def __init__(self, series: Stream, order: int) -> None:
        require(
            series.on_error == "raise",
            "series",
            "be a stream with on_error='raise'",
            series.on_error,
            "A row left out would make neighbours of values that are none.",
        )
        series.must_be_whole()
        self._series = series
        self._order = order
        self._past: np.ndarray | None = None  # the last `order` values, or as many as there are; None: not yet read

    @property
    def position(self) -> int:
        """Values of the series consumed by the chunks delivered so far."""
        return self._series.position

    @property
    def total_rows(self) -> int | None:
        """Values of the series, where that is known without reading it."""
        return self._series.total_rows

    @property
    def num_bad_rows(self) -> int:
        """None: a series with a bad row is an error."""
        return self._series.num_bad_rows

    @property
    def bookmark(self) -> Bookmark | None:
        """That of the series, with the values before it: the source may not have them any more."""
        if self._series.bookmark is None:
            return None
        return {"series": self._series.bookmark, "past": [] if self._past is None else self._past}

    def seek(self, position: int, bookmark: Bookmark | None = None) -> Self:
        """Continue with the value `position` of the series."""
        if bookmark is None:
            self._series.seek(position)
            self._past = None
        else:
            self._series.seek(position, bookmark["series"])
            self._past = np.asarray(bookmark["past"])
        return self

    def close(self) -> None:
        """Let go of files and of the background thread."""
        self._series.close()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Chunk:
        while True:
            past = self._read_past() if self._past is None else self._past
            values = _joined(past, _only_y(next(self._series)))
            self._past = values[-self._order :]
            if len(values) > self._order:
                return _lagged_rows(values, self._order)

    def _read_past(self) -> np.ndarray:
        """The values before the present position."""
        position = self._series.position
        start = max(position - self._order, 0)
        if start == position:
            return _NO_PAST
        past = self._series.seek(start).take(position - start)
        if past is None or self._series.position < position:
            self._series.seek(position)
            raise DataError(f"`position` must be at most the length of the series, got {position}.")
        return _only_y(past)


def _lagged_rows(values: np.ndarray, order: int) -> Chunk:
    windows = np.lib.stride_tricks.sliding_window_view(values, order + 1)
    return {"x": windows[:, order - 1 :: -1].copy(), "y": values[order:]}


def _joined(past: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Past and present in the dtype of the series."""
    return np.concatenate([past, values], dtype=values.dtype) if len(past) else values


def _only_y(chunk: Chunk) -> np.ndarray:
    if list(chunk) != ["y"] or chunk["y"].ndim != 1:
        shapes = {name: values.shape for name, values in chunk.items()}
        raise DataError(f"`series` must have the one column 'y' of numbers, got {shapes}. Map it: y='value'.")
    return chunk["y"]
