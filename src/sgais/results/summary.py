"""Weighted draws in a few numbers for each parameter."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

LEVELS = (0.05, 0.5, 0.95)


def summary_of(draws: Mapping[str, np.ndarray], log_weights: np.ndarray) -> "pd.DataFrame":
    """Mean, standard deviation and quantiles of every number among the parameters.

    Args:
        draws: By parameter name, leading axis draws.
        log_weights: Of the draws, normalised.
    """
    import pandas as pd  # slow to import

    weights = np.exp(log_weights)
    lines = {}
    for name, values in draws.items():
        flat = np.asarray(values, np.float64).reshape(len(weights), -1)
        for place, column in enumerate(flat.T):
            index = ",".join(map(str, np.unravel_index(place, values.shape[1:]))) if values.ndim > 1 else ""
            lines[f"{name}[{index}]" if index else name] = _line(column, weights)
    return pd.DataFrame.from_dict(lines, orient="index")


def with_error(value: float, error: float) -> str:
    """A number with its error, and with as many digits as the error leaves it."""
    if not np.isfinite(error):
        return f"{value:.2f}"
    digits = 2 if error == 0 else int(np.clip(1 - np.floor(np.log10(error)), 0, 4))
    return f"{value:.{digits}f} ± {error:.{digits}f}" if error > 0 else f"{value:.{digits}f}"


def _line(column: np.ndarray, weights: np.ndarray) -> dict[str, float]:
    mean = float(weights @ column)
    order = np.argsort(column)
    shares = np.cumsum(weights[order]) - 0.5 * weights[order]
    quantiles = np.interp(LEVELS, shares, column[order])
    spread = float(np.sqrt(weights @ (column - mean) ** 2))
    return {"mean": mean, "sd": spread} | {
        f"{level:.0%}": float(at) for level, at in zip(LEVELS, quantiles, strict=True)
    }
