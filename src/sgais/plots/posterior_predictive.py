"""Posterior predictive check: the rows, beside rows that the model would have made instead."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from sgais.errors import require
from sgais.plots.style import COLOURS, figure_of, legend_above, panels

NUM_BINS = 30
MOST_VALUES = 40  # of whole numbers, each of which then has a bin of its own
NUM_REPLICATES = 200
LEVELS = (0.05, 0.5, 0.95)


def posterior_predictive(data: Any, axes: Any = None) -> Figure:
    """Share of the rows in each bin, with the median and 90 % band of data sets that the model has drawn.

    Args:
        data: What `evidence.to_arviz()` gives, with its groups `posterior_predictive` and `observed_data`.
        axes: Matplotlib axes to draw on; made anew if omitted.

    Example:
        >>> evidence = sgais.OnlineEvidence(sgais.models.LinearRegression(dim=1))
        >>> _ = evidence.update(sgais.simulate.linear_regression(200, dim=1).data)
        >>> sgais.plots.posterior_predictive(evidence.to_arviz()).savefig("posterior_predictive.svg")
    """
    groups = [name for name in ("posterior_predictive", "observed_data") if not _has(data, name)]
    require(not groups, "data", "have the groups that evidence.to_arviz() gives where a model predicts", groups)
    name = next(iter(data["observed_data"].data_vars))
    observed = np.asarray(data["observed_data"][name].values)
    drawn = np.asarray(data["posterior_predictive"][name].values)
    require(observed.ndim == 1, "data", "have one number per row", observed.shape, "Draw one of its coordinates.")
    replicates = drawn.reshape(-1, len(observed))
    replicates = replicates[np.linspace(0, len(replicates) - 1, min(NUM_REPLICATES, len(replicates))).astype(int)]
    edges = _edges(observed, replicates)
    shares = np.array([np.histogram(each, edges)[0] for each in replicates]) / len(observed)
    low, middle, high = np.quantile(shares, LEVELS, axis=0)
    panel = panels(axes, 1)[0]
    panel.stairs(high, edges, baseline=low, fill=True, color=COLOURS[0], alpha=0.25, label="90 % of replicates")
    panel.stairs(middle, edges, color=COLOURS[0], linewidth=1.0, label="their median")
    panel.stairs(
        np.histogram(observed, edges)[0] / len(observed), edges, color="black", linewidth=1.2, label="observed"
    )
    panel.set_xlabel(str(name))
    panel.set_ylabel("share of the rows")
    legend_above(panel, may_grow=axes is None)
    return figure_of(panel)


def _has(data: Any, group: str) -> bool:
    try:
        return bool(data[group].data_vars)
    except (KeyError, TypeError, AttributeError):
        return False


def _edges(observed: np.ndarray, replicates: np.ndarray) -> np.ndarray:
    """Bins from where all but a few rows begin to where they end; counts and classes have a bin for each."""
    low, high = np.quantile(np.concatenate([observed, replicates.ravel()]), [0.001, 0.999])
    if (observed == np.floor(observed)).all() and high - low <= MOST_VALUES:
        return np.arange(np.floor(low), np.ceil(high) + 2) - 0.5
    return np.linspace(low, high if high > low else low + 1.0, NUM_BINS + 1)
