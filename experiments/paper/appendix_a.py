"""Appendix A: are nested sampling and annealed importance sampling right?

They share neither their moves nor the way they make an evidence of them, so that bugs in both would hardly agree.
Both estimate log Z, over all six labelings, of a 1-D Gaussian mixture with 3 components (9 parameters, 8 degrees of
freedom) on the first 20, 40, ..., 1000 rows of one data set, five times each, with the published settings and with
ours. Bands are minimum and maximum, as in the paper; our second panel counts from the mean of both methods, for on the
scale of log Z nothing could be told apart.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import norm

from experiments.paper import drawing, tables
from experiments.paper.cache import Cache, Run
from experiments.paper.execution import COMPLETE
from experiments.paper.findings import Finding, judged, unknown
from experiments.paper.problems import APPENDIX
from experiments.paper.settings import AIS, AIS_DEFAULT, NESTED, NESTED_DEFAULT, Settings
from experiments.paper.task import Task
from sgais.plots.style import COLOURS, GREY

TABLE = "appendix_a"
PUBLISHED, DEFAULT = "published", "default"
FIGURES = {PUBLISHED: "appendix-a", DEFAULT: "appendix-a-default"}
CLAIM = "The shaded regions, minimum and maximum of 5 independent runs of NS and of AIS, tend to agree."
REMARKS = {
    PUBLISHED: "Ten particles that are never resampled leave AIS with the weight of one or two of them, and the mean "
    "of few, uneven weights is mostly below what they stand for; two live points leave NS with an error of the root "
    "of half the information. Bands this wide overlap easily.",
    DEFAULT: "With our settings the bands are narrow enough for their overlap to say something.",
}
DATA_ROWS = 1000
METHODS = ("nested", "ais")
NAMES = {"nested": "nested sampling", "ais": "annealed importance sampling"}
HATCHES = {"nested": "", "ais": "////"}  # tell the bands apart without colour
CLAIM_FROM = 100  # rows; where the bands are asked to overlap
MOST = 0.9  # of the sizes


class Band(NamedTuple):
    """The runs of a method at every size that has been measured: arrays (sizes,), nats."""

    lowest: np.ndarray
    highest: np.ndarray
    mean: np.ndarray
    mean_error: np.ndarray  # standard error of the mean, as the runs themselves claim it


def tasks(settings: Settings) -> list[Task]:
    """All runs, with the published settings and with ours."""
    return [task for kind in FIGURES for task in _tasks_of(settings, kind)]


def _tasks_of(settings: Settings, kind: str) -> list[Task]:
    sizes = settings.appendix_sizes if kind == PUBLISHED else settings.appendix_default_sizes
    methods = (NESTED, AIS) if kind == PUBLISHED else (NESTED_DEFAULT, AIS_DEFAULT)
    return [
        Task(APPENDIX, method, size, DATA_ROWS, seed)
        for size in sizes
        for number, method in enumerate(methods)
        for seed in seeds(size, number, settings.appendix_runs)
    ]


def seeds(size: int, number: int, runs: int) -> range:
    """One for each run; the runs of a size share no random numbers, whatever their method."""
    first = size + runs * number
    return range(first, first + runs)


def gather(settings: Settings, cache: Cache) -> pd.DataFrame:
    """The table of appendix A, a line for each run."""
    parts = [
        tables.gather(_tasks_of(settings, kind), cache, settings.limit, _lines).assign(settings=kind)
        for kind in FIGURES
    ]
    return pd.concat([part for part in parts if not part.empty] or parts[:1], ignore_index=True)


def _lines(task: Task, run: Run) -> Iterable[tables.Line]:
    outcome = run.outcome
    method = "nested" if task.method in (NESTED, NESTED_DEFAULT) else "ais"
    return [
        {
            "settings": "",
            "size": task.rows,
            "method": method,
            "seed": task.seed,
            "log_evidence": outcome.log_evidence,
            "standard_error": outcome.standard_error,
            "status": outcome.status,
        }
    ]


def of(table: pd.DataFrame, kind: str) -> pd.DataFrame:
    """The runs with the published settings, or with ours, at the sizes for which both methods are there."""
    if table.empty:
        return table
    lines = table[table["settings"] == kind]
    both = lines.groupby("size")["method"].nunique() == len(METHODS)
    return lines[lines["size"].isin(both[both].index)]


def band(lines: pd.DataFrame, method: str) -> Band:
    """The runs of a method, by size."""
    chosen = lines[lines["method"] == method]
    values, errors = (chosen.groupby("size")[name] for name in ("log_evidence", "standard_error"))
    mean_errors = errors.apply(lambda each: float(np.sqrt(np.mean(each.to_numpy() ** 2) / len(each))))
    lowest, highest, mean, mean_error = (
        part.to_numpy(dtype=float) for part in (values.min(), values.max(), values.mean(), mean_errors)
    )
    return Band(lowest, highest, mean, mean_error)


def overlaps(first: Band, second: Band) -> np.ndarray:
    """At which sizes the bands have a point in common."""
    return np.maximum(first.lowest, second.lowest) <= np.minimum(first.highest, second.highest)


def draw(table: pd.DataFrame) -> dict[str, Figure]:
    """A figure for the published settings, and one for ours."""
    return {name: _figure(of(table, kind), kind) for kind, name in FIGURES.items() if not of(table, kind).empty}


def _figure(lines: pd.DataFrame, kind: str) -> Figure:
    """Log Z per row, and below it log Z less the mean of both methods."""
    figure = Figure(figsize=(7.0, 6.0), dpi=drawing.DOTS_PER_INCH, layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(1, 1.6))
    sizes, bands = np.sort(lines["size"].unique()), {method: band(lines, method) for method in METHODS}
    common = np.mean([bands[method].mean for method in METHODS], axis=0)
    for method in METHODS:
        each = bands[method]
        _draw_band(upper, sizes, each.lowest / sizes, each.highest / sizes, each.mean / sizes, method)
        _draw_band(lower, sizes, each.lowest - common, each.highest - common, each.mean - common, method)
    lower.axhline(0.0, color=GREY, linewidth=0.8)
    apart = ~overlaps(bands["nested"], bands["ais"])
    if apart.any():
        bottom = np.full(apart.sum(), 0.02)
        mark = {"color": "black", "marker": "^", "linestyle": "none", "label": "bands do not overlap"}
        lower.plot(sizes[apart], bottom, transform=lower.get_xaxis_transform(), **mark)
    upper.set_ylabel(drawing.PER_ROW)
    lower.set_ylabel("log Z less the mean of both (nats)")
    lower.set_xlabel("rows N")
    upper.legend(*lower.get_legend_handles_labels(), frameon=False, loc="lower right")
    runs = int(lines.groupby(["size", "method"]).size().max())
    upper.set_title(
        f"1-D Gaussian mixture, 3 components; {kind} settings\n"
        f"bands: lowest and highest of {runs} runs, dots: their mean"
    )
    for axes in (upper, lower):
        axes.spines[["top", "right"]].set_visible(False)
    return figure


def _draw_band(
    axes: Axes, sizes: np.ndarray, lowest: np.ndarray, highest: np.ndarray, mean: np.ndarray, method: str
) -> None:
    """A band and its middle."""
    colour = COLOURS[METHODS.index(method)]
    look = {"alpha": 0.3, "facecolor": colour, "edgecolor": colour, "hatch": HATCHES[method], "linewidth": 0.5}
    axes.fill_between(sizes, lowest, highest, label=NAMES[method], **look)  # type: ignore[arg-type]
    axes.plot(sizes, mean, color=colour, linewidth=1.2, marker=".", markersize=4)


def findings(table: pd.DataFrame, kind: str) -> list[Finding]:
    """Whether the bands overlap at most of the sizes."""
    claim = "The typical results of NS and AIS tend to agree"
    lines = of(table, kind)
    if lines.empty or lines["size"].max() < CLAIM_FROM:
        return [unknown(claim, "no runs")]
    asked = np.sort(lines["size"].unique()) >= CLAIM_FROM
    meet = overlaps(band(lines, "nested"), band(lines, "ais"))[asked]
    words = f"the bands overlap at {meet.sum()} of {meet.size} sizes from {CLAIM_FROM} rows on"
    return [judged(claim, bool(meet.mean() >= MOST), words)]


def chance_of_missing(first: float, second: float, runs: int) -> float:
    """How likely the bands of so many runs do not overlap, though both methods scatter around the same value.

    That is 0.8 % for five runs of the same standard deviation, and up to 6 % where one of them is much smaller.
    """
    narrow, wide = sorted((first, second))
    if wide == 0:
        return 0.0
    value = np.linspace(-8.0, 8.0, 4001)  # the highest of the narrow band, in its standard deviations
    density = runs * norm.pdf(value) * norm.cdf(value) ** (runs - 1)
    return 2 * float(np.trapezoid(density * norm.sf(value * narrow / wide) ** runs, value))


def _spread(lines: pd.DataFrame, method: str) -> float:
    """The standard deviation of runs on the same data, over all sizes that are asked."""
    chosen = lines[(lines["method"] == method) & (lines["size"] >= CLAIM_FROM)]
    return float(np.sqrt(chosen.groupby("size")["log_evidence"].var().mean()))


def numbers(table: pd.DataFrame, kind: str) -> list[tuple[str, str]]:
    """What the figure shows, in names and numbers."""
    lines = of(table, kind)
    if lines.empty or lines["size"].max() < CLAIM_FROM:
        return []
    sizes, nested, ais = np.sort(lines["size"].unique()), band(lines, "nested"), band(lines, "ais")
    asked = sizes >= CLAIM_FROM
    meet, runs = overlaps(nested, ais), int(lines.groupby(["size", "method"]).size().max())
    difference = nested.mean - ais.mean
    scores = (difference / np.hypot(nested.mean_error, ais.mean_error))[asked]
    scores = scores[np.isfinite(scores)]  # a run that got stuck has no standard error
    apart = ", ".join(str(size) for size in sizes[asked & ~meet]) or "none"
    spread = f"{np.sqrt(np.mean(scores**2)):.2f}" if scores.size else "no errors"
    widths = [f"{np.mean((each.highest - each.lowest)[asked]):.2f}" for each in (nested, ais)]
    chance = chance_of_missing(_spread(lines, "nested"), _spread(lines, "ais"), runs)
    return [
        (f"sizes from {CLAIM_FROM} rows on at which the bands overlap", f"{meet[asked].sum()} of {asked.sum()}"),
        ("sizes at which they do not", apart),
        ("how many such sizes two exact methods that scatter as these do would have", f"{chance * asked.sum():.1f}"),
        ("mean of log Z nested - log Z AIS (nats)", f"{difference[asked].mean():+.3f}"),
        ("root mean square of this difference, in its standard errors", spread),
        ("mean width of the bands, nested and AIS (nats)", ", ".join(widths)),
        ('runs that did not say "complete"', f"{(lines['status'] != COMPLETE).sum()} of {len(lines)}"),
    ]
