"""Rows for auto-regression: each value of a series with the values before it."""

import numpy as np

from sgais.errors import DataError, require
from sgais.fields import Chunk


def lagged(series: object, order: int) -> Chunk:
    """The rows of an auto-regression of given order: `{"x": (n, order), "y": (n,)}`, newest lag first.

    The first `order` values have no complete past: they appear in `x` only, so n = len(series) - order.
    """
    require(order >= 1, "order", "be at least 1", order)
    values = np.asarray(series)
    if values.ndim != 1 or len(values) <= order:
        raise DataError(
            f"`series` must be one-dimensional and longer than the order {order}, got shape {values.shape}."
        )
    windows = np.lib.stride_tricks.sliding_window_view(values, order + 1)
    return {"x": windows[:, order - 1 :: -1].copy(), "y": values[order:]}
