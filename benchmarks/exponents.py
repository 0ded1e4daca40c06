"""Curves that grow like a power: which, and what they look like."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from sgais.plots.style import GREY, figure_of, legend_above, line_style, panels

Curve = dict[int, float]  # from what is varied to the cost
HEIGHT = 2.2  # inches


def exponent(curve: Curve) -> float:
    """Of the power that fits best, on logarithmic axes."""
    return _line(curve)[0]


def draw(curve: Curve, across: str, up: str) -> Figure:
    """The measured costs, and the fitted power as a dotted line.

    Args:
        curve: The costs.
        across: What is varied.
        up: What it costs.
    """
    panel = panels(None, 1, height=HEIGHT)[0]
    sizes, costs = np.array(list(curve)), np.array(list(curve.values()))
    slope, offset = _line(curve)
    panel.plot(sizes, costs, marker="o", markersize=4.0, label="measured", **line_style(0))
    fitted = np.exp(offset) * sizes**slope
    panel.plot(sizes, fitted, color=GREY, linestyle=":", linewidth=0.9, label=f"exponent {slope:.2f}")
    panel.set_xscale("log")
    panel.set_yscale("log")
    for axis in (panel.xaxis, panel.yaxis):  # 0.1 and 4 rather than 10^-1 and 4 x 10^0
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter(NullFormatter())
    panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    panel.set_ylim(*_at_least_a_decade(costs))
    panel.set_xlabel(across)
    panel.set_ylabel(up)
    legend_above(panel, may_grow=True)
    return figure_of(panel)


def _at_least_a_decade(costs: np.ndarray) -> tuple[float, float]:
    """Limits of an axis that makes no mountains of noise."""
    middle = np.sqrt(costs.min() * costs.max())
    reach = max(np.sqrt(10.0), 1.2 * np.sqrt(costs.max() / costs.min()))
    return float(middle / reach), float(middle * reach)


def _line(curve: Curve) -> tuple[float, float]:
    slope, offset = np.polyfit(np.log(list(curve)), np.log(list(curve.values())), 1)
    return float(slope), float(offset)
