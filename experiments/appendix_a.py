"""Appendix A of the paper: are nested sampling and annealed importance sampling right?

    python experiments/appendix_a.py               # the default settings of both methods
    python experiments/appendix_a.py --paper       # the published settings of both methods

They share neither their moves nor the way they make an evidence of them, so that bugs in both would hardly agree.
Both estimate log Z, over all six labelings, of a 1-D Gaussian mixture with 3 components (9 parameters, 8 degrees of
freedom) on the first 20, 40, ..., 1000 rows of one data set, five times each. Bands are minimum and maximum, as in
the paper; our second panel counts from the mean of both methods, for on the scale of log Z nothing could be told apart.

Every run is one line of results/appendix_a.csv (or appendix_a_paper.csv), so that interrupted work goes on where it
stopped. A coarse grid comes first.
"""

import os

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
cores = sorted(os.sched_getaffinity(0))
os.sched_setaffinity(0, {cores[int(os.environ.get("CORE", "0")) % len(cores)]})

import argparse
import csv
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import sgais

RESULTS = Path(__file__).parent / "results"
COLUMNS = ("size", "method", "seed", "log_evidence", "standard_error", "seconds", "status")
MODEL = sgais.models.GaussianMixture(components=3, dim=1)
SIZES = range(20, 1001, 20)
COARSE_SIZES = (20, *range(100, 1001, 100))
RUNS = 5
METHODS = ("nested", "ais")
NAMES = {"nested": "nested sampling", "ais": "annealed importance sampling"}
CLAIM_FROM = 100  # rows; where the bands are asked to overlap
# Okabe and Ito's colours, which stay apart for colour-blind readers; hatching tells the bands apart without colour.
COLOURS = {"nested": "#0072B2", "ais": "#D55E00"}
HATCHES = {"nested": "", "ais": "////"}
DEFAULT = {"nested": sgais.NestedConfig(), "ais": sgais.AISConfig()}
PAPER = {"nested": sgais.NestedConfig.paper(), "ais": sgais.AISConfig.paper()}


class Band(NamedTuple):
    """The five runs of a method at every size that has been measured: arrays (sizes,), nats."""

    lowest: np.ndarray
    highest: np.ndarray
    mean: np.ndarray
    mean_error: np.ndarray  # standard error of the mean, as the runs themselves claim it
    median_seconds: float


def seeds(size: int, method: str) -> range:
    """Five seeds; no two runs of any size or method share their random numbers."""
    first = size + RUNS * METHODS.index(method)
    return range(first, first + RUNS)


def run(size: int, method: str, seed: int, config: object) -> dict[str, Any]:
    """One line of the table."""
    data = sgais.simulate.gaussian_mixture(max(SIZES), components=3, dim=1).data
    result = sgais.estimate(MODEL, {"y": data["y"][:size]}, method=method, config=config, seed=seed)
    return {
        "size": size,
        "method": method,
        "seed": seed,
        "log_evidence": result.log_evidence,
        "standard_error": result.standard_error,
        "seconds": result.seconds,
        "status": result.status,
    }


def measure(table: Path, configs: dict[str, object]) -> None:
    """Every run that the table does not have yet."""
    known = {(line["size"], line["method"], line["seed"]) for line in measured(table)}
    for size in dict.fromkeys((*COARSE_SIZES, *SIZES)):
        for method in METHODS:
            for seed in seeds(size, method):
                if (str(size), method, str(seed)) not in known:
                    append(table, run(size, method, seed, configs[method]))
        print(f"{size} rows: done", flush=True)


def measured(table: Path) -> list[dict[str, str]]:
    """The lines so far."""
    if not table.exists():
        return []
    with table.open() as file:
        return list(csv.DictReader(file))


def append(table: Path, line: dict[str, Any]) -> None:
    """Add a line, and the names of the columns before the first."""
    table.parent.mkdir(exist_ok=True)
    is_new = not table.exists()
    with table.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if is_new:
            writer.writeheader()
        writer.writerow(line)


def complete_sizes(lines: list[dict[str, str]]) -> np.ndarray:
    """The sizes, ascending, for which all runs of both methods are there."""
    counts = {size: sum(line["size"] == str(size) for line in lines) for size in SIZES}
    return np.array([size for size, count in counts.items() if count == RUNS * len(METHODS)])


def band(lines: list[dict[str, str]], sizes: np.ndarray, method: str) -> Band:
    """The runs of a method."""
    chosen = [[line for line in lines if line["size"] == str(size) and line["method"] == method] for size in sizes]
    values = np.array([[float(line["log_evidence"]) for line in runs] for runs in chosen])
    errors = np.array([[float(line["standard_error"]) for line in runs] for runs in chosen])
    seconds = [float(line["seconds"]) for runs in chosen for line in runs]
    return Band(
        values.min(axis=1),
        values.max(axis=1),
        values.mean(axis=1),
        np.sqrt(np.mean(errors**2, axis=1) / RUNS),
        float(np.median(seconds)),
    )


def overlaps(first: Band, second: Band) -> np.ndarray:
    """At which sizes the bands have a point in common."""
    return np.maximum(first.lowest, second.lowest) <= np.minimum(first.highest, second.highest)


def draw(sizes: np.ndarray, bands: dict[str, Band], settings: str) -> Figure:
    """Log Z per row, and below it log Z less the mean of both methods."""
    figure = Figure(figsize=(7.0, 6.0), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(1, 1.6))
    common = np.mean([bands[method].mean for method in METHODS], axis=0)
    for method in METHODS:
        of = bands[method]
        draw_band(upper, sizes, of.lowest / sizes, of.highest / sizes, of.mean / sizes, method)
        draw_band(lower, sizes, of.lowest - common, of.highest - common, of.mean - common, method)
    lower.axhline(0.0, color="#555555", linewidth=0.8)
    apart = ~overlaps(bands["nested"], bands["ais"])
    if apart.any():
        bottom = np.full(apart.sum(), 0.02)
        mark = {"color": "black", "marker": "^", "linestyle": "none", "label": "bands do not overlap"}
        lower.plot(sizes[apart], bottom, transform=lower.get_xaxis_transform(), **mark)
    upper.set_ylabel("log Z per row (nats)")
    lower.set_ylabel("log Z less the mean of both (nats)")
    lower.set_xlabel("rows")
    upper.legend(*lower.get_legend_handles_labels(), frameon=False, loc="lower right")
    upper.set_title(
        f"1-D Gaussian mixture, 3 components; {settings}\nbands: lowest and highest of {RUNS} runs, dots: their mean"
    )
    for axes in (upper, lower):
        axes.spines[["top", "right"]].set_visible(False)
    return figure


def draw_band(
    axes: Axes, sizes: np.ndarray, lowest: np.ndarray, highest: np.ndarray, mean: np.ndarray, method: str
) -> None:
    """A band and its middle."""
    colour = COLOURS[method]
    axes.fill_between(
        sizes,
        lowest,
        highest,
        alpha=0.3,
        facecolor=colour,
        edgecolor=colour,
        hatch=HATCHES[method],
        linewidth=0.5,
        label=NAMES[method],
    )
    axes.plot(sizes, mean, color=colour, linewidth=1.2, marker=".", markersize=4)


def report(sizes: np.ndarray, bands: dict[str, Band], settings: str, stopped: int) -> str:
    """What the figure shows, in words and numbers."""
    asked = sizes >= CLAIM_FROM
    meet = overlaps(bands["nested"], bands["ais"])[asked]
    difference = bands["nested"].mean - bands["ais"].mean
    scores = (difference / np.hypot(bands["nested"].mean_error, bands["ais"].mean_error))[asked]
    scores = scores[np.isfinite(scores)]  # a run that got stuck has no standard error
    apart = ", ".join(str(size) for size in sizes[asked][~meet]) or "none"
    return "\n".join(
        [
            f"# Nested sampling against annealed importance sampling: {settings}",
            "",
            "1-D Gaussian mixture with 3 components, the first rows of "
            f"`sgais.simulate.gaussian_mixture({max(SIZES)}, components=3, dim=1)`, {len(sizes)} of {len(SIZES)} sizes "
            f"from {min(SIZES)} to {max(SIZES)}, {RUNS} runs of each method per size, single-threaded on one of "
            "2 cores. Printed by `make appendix-a`; every run is a line of the CSV file.",
            "",
            f"| from {CLAIM_FROM} rows on | |",
            "|---|---|",
            f"| sizes at which the bands (minimum to maximum) overlap | {meet.sum()} of {meet.size} |",
            f"| sizes at which they do not | {apart} |",
            f"| mean of log Z nested - log Z AIS (nats) | {difference[asked].mean():+.3f} |",
            f"| root mean square of this difference, in its standard errors | {np.sqrt(np.mean(scores**2)):.2f} |",
            f"| its mean, in standard errors | {scores.sum() / np.sqrt(scores.size):+.1f} |",
            f"| mean width of the bands, nested and AIS (nats) | {_width(bands['nested'], asked):.2f}, "
            f"{_width(bands['ais'], asked):.2f} |",
            f"| median seconds of a run, nested and AIS | {bands['nested'].median_seconds:.1f}, "
            f"{bands['ais'].median_seconds:.1f} |",
            f'| runs that did not say "complete" | {stopped} |',
            "",
            f"Two exact methods with the same spread miss each other's band of {RUNS} runs with a chance of "
            f"{2 / _choose(2 * RUNS, RUNS):.1%} at any one size.",
            "",
        ]
    )


def _width(of: Band, asked: np.ndarray) -> float:
    return float(np.mean((of.highest - of.lowest)[asked]))


def _choose(total: int, part: int) -> float:
    return float(np.prod([(total - index) / (part - index) for index in range(part)]))


def main() -> None:
    """Measure what is missing, then draw and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--paper", action="store_true", help="the published settings instead of the defaults")
    parser.add_argument("--draw", action="store_true", help="measure nothing; figure and report of what there is")
    arguments = parser.parse_args()
    settings = "published settings" if arguments.paper else "default settings"
    table = RESULTS / ("appendix_a_paper.csv" if arguments.paper else "appendix_a.csv")
    if not arguments.draw:
        measure(table, dict(PAPER if arguments.paper else DEFAULT))
    lines = measured(table)
    sizes = complete_sizes(lines)
    bands = {method: band(lines, sizes, method) for method in METHODS}
    stopped = sum(line["status"] != "complete" for line in lines)
    draw(sizes, bands, settings).savefig(table.with_suffix(".png"), dpi=150)
    table.with_suffix(".md").write_text(report(sizes, bands, settings, stopped))
    print(table.with_suffix(".md").read_text())


if __name__ == "__main__":
    main()
