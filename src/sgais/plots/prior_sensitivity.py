"""How far probabilities of models depend on how wide their priors are."""

from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from sgais.plots.style import figure_of, legend_above, line_style, panels

if TYPE_CHECKING:
    from sgais.comparison.sensitivity import PriorSensitivity

TINT = 0.2  # of a band


def prior_sensitivity(sensitivity: "PriorSensitivity", axes: Any = None) -> Figure:
    """The probability of each model over the scale of the priors of the coefficients; 1 is the prior as it is.

    Args:
        sensitivity: What `comparison.prior_sensitivity()` has found.
        axes: Matplotlib axes to draw on; made anew if omitted.

    Example:
        >>> generator = np.random.default_rng(0)
        >>> rows = {"a": generator.normal(size=200), "b": generator.normal(size=200)}
        >>> rows["y"] = rows["a"] + generator.normal(size=200)
        >>> comparison = sgais.Comparison({formula: sgais.glm(formula) for formula in ("y ~ a", "y ~ a + b")})
        >>> _ = comparison.update(rows)
        >>> sgais.plots.prior_sensitivity(comparison.prior_sensitivity()).savefig("prior_sensitivity.svg")
    """
    (panel,) = panels(axes, 1)
    panel.set_xscale("log", base=2)
    for number, (name, lines) in enumerate(sensitivity.to_frame().groupby("model", sort=False)):
        style = line_style(number)
        panel.fill_between(lines["scale"], lines["low"], lines["high"], color=style["color"], alpha=TINT, linewidth=0)
        panel.plot(lines["scale"], lines["probability"], label=str(name), **style)
    panel.axvline(1.0, color="0.7", linewidth=0.8, zorder=0)
    panel.set_xticks(list(sensitivity.scales))
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.3g}"))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.set_ylim(-0.02, 1.02)
    panel.set_xlabel("scale of the priors")
    panel.set_ylabel("probability")
    legend_above(panel, may_grow=axes is None)
    return figure_of(panel)
