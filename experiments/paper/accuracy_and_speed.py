"""Figures 2 to 4: log Z / N and run time against N, for linear regression, logistic regression and the mixture.

Nested sampling and AIS are run anew for every size; a run of SGAIS is a whole curve. Our third panel is the relative
error, for on the scale of log Z / N hardly anything can be told apart.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import sgais
from experiments.paper import drawing, tables
from experiments.paper.cache import Cache, Run
from experiments.paper.execution import COMPLETE, OUT_OF_TIME, STUCK
from experiments.paper.findings import Finding, judged, unknown
from experiments.paper.settings import AIS, DATA_SETS, DEFAULT, NESTED, PAPER, PROBLEMS, REFERENCE, Settings
from experiments.paper.task import Task

TABLE = "accuracy_and_speed"
FIGURES = {"linear": "figure2", "logistic": "figure3", "mixture": "figure4"}
TITLES = {"linear": "Linear regression", "logistic": "Logistic regression", "mixture": "Gaussian mixture"}
LABELS = {NESTED: "nested sampling", AIS: "AIS", PAPER: "SGAIS, as published", DEFAULT: "SGAIS, default"}
CLAIMS = {
    "linear": "Each algorithm is accurate for all data set sizes; the final error of SGAIS on a million rows is about "
    "0.1 %. SGAIS is about 3.3 times faster than NS and 24.9 times faster than AIS.",
    "logistic": "On a million rows NS and SGAIS differ by roughly 0.6 %, which is negligible. SGAIS is 10.4 times "
    "faster than NS; AIS would take more than 4000 s on larger data sets.",
    "mixture": "On a million rows NS and SGAIS differ by roughly 0.1 %. SGAIS is about 4.9 times faster than NS.",
}
NEGLIGIBLE = 0.01  # relative; what the eye cannot tell apart in the paper's figures
ACCURATE = 0.02  # relative, at every size
EXACT = ("linear",)
ENDED = (COMPLETE, STUCK)  # by the published rule also where the points of NS no longer move
SPEED_ROWS = {1, 2, 3, 5}  # first digits of the sizes at which the time of a stream is marked


def tasks(settings: Settings) -> list[Task]:
    """A stream for each seed; a run for each size and seed of the others."""
    found = []
    for problem in PROBLEMS:
        data_set = DATA_SETS.get(problem, 0)
        streams = [(PAPER, seed) for seed in settings.seeds] + [(DEFAULT, seed) for seed in settings.default_seeds]
        others = [(NESTED, seed) for seed in settings.nested_seeds] + [(AIS, seed) for seed in settings.ais_seeds]
        for rows in settings.sizes:
            is_last = rows == settings.rows  # where speed-ups are told: more seeds are timed
            timed_seeds = settings.timed_seeds if is_last else settings.nested_seeds[:1]
            found += [
                Task(problem, method, rows, settings.data_rows, seed, data_set=data_set, timed=seed in timed_seeds)
                for method, seed in ([*streams, *others] if is_last else others)
            ]
        found += [
            Task(problem, REFERENCE, rows, settings.data_rows, seed=0, data_set=data_set) for rows in settings.sizes
        ]
    return found


def gather(settings: Settings, cache: Cache) -> pd.DataFrame:
    """The table of figures 2 to 4."""
    return tables.gather(tasks(settings), cache, settings.limit, _lines)


def _lines(task: Task, run: Run) -> Iterable[tables.Line]:
    known = {"problem": task.problem, "method": task.method, "seed": task.seed}
    if run.outcome.points:
        return [known | line | {"ending": COMPLETE} for line in tables.curve_lines(run)]
    outcome = run.outcome
    numbers = {"log_evidence": outcome.log_evidence, "standard_error": outcome.standard_error}
    return [known | {"rows": task.rows, **numbers, "seconds": outcome.seconds, "ending": outcome.ending}]


def of(table: pd.DataFrame, problem: str, method: str, ending: str | None = None) -> pd.DataFrame:
    """The lines of a method on a problem, only those that ended so if this is given."""
    if table.empty:
        return table
    chosen = table[(table["problem"] == problem) & (table["method"] == method)]
    return chosen if ending is None else chosen[chosen["ending"] == ending]


def ended(table: pd.DataFrame, problem: str, method: str) -> pd.DataFrame:
    """The lines of runs that came to their end."""
    lines = of(table, problem, method)
    return lines if lines.empty else lines[lines["ending"].isin(ENDED)]


def references(table: pd.DataFrame, problem: str) -> pd.Series:
    """Log Z by rows: exact for linear regression, else Laplace's where it is good to 0.1 nat."""
    found = of(table, problem, REFERENCE, COMPLETE)
    return pd.Series(dtype=float) if found.empty else found.set_index("rows")["log_evidence"]


def errors(table: pd.DataFrame, problem: str, method: str) -> pd.DataFrame:
    """Error of log Z in nats, and over log Z, of every run at every size with a reference."""
    lines, truth = ended(table, problem, method), references(table, problem)
    if lines.empty or truth.empty:
        return pd.DataFrame(columns=["rows", "seed", "error", "relative"])
    lines = lines[lines["rows"].isin(truth.index)].copy()
    exact = lines["rows"].map(truth)
    lines["error"] = lines["log_evidence"] - exact
    lines["relative"] = lines["error"].abs() / exact.abs()
    return lines


def final_errors(table: pd.DataFrame, problem: str, method: str) -> pd.DataFrame:
    """The errors at the most rows that there are."""
    found = errors(table, problem, method)
    return found[found["rows"] == found["rows"].max()]


def seconds(table: pd.DataFrame, problem: str, method: str, rows: int) -> tuple[float, bool]:
    """Median time at this size, and whether it is only a lower bound: the run was stopped, or not begun.

    The time of a run that was not begun is that of the most rows that were run, in proportion to the rows.
    """
    lines = timed(of(table, problem, method))
    lines = lines[lines["rows"] <= rows] if len(lines) else lines
    if lines.empty:
        return float("nan"), False
    most = int(lines["rows"].max())
    here = lines[lines["rows"] == most]
    is_bound = most < rows or bool((here["ending"] == OUT_OF_TIME).any())
    return float(here["seconds"].median()) * rows / most, is_bound


def timed(lines: pd.DataFrame) -> pd.DataFrame:
    """Those of runs that were alone on the machine."""
    return lines if lines.empty else lines[lines["seconds"].notna()]


def speed_up(table: pd.DataFrame, problem: str, over: str, method: str = PAPER) -> tuple[float, bool]:
    """How many times faster SGAIS is at the end of its stream, and whether this is only a lower bound."""
    stream = of(table, problem, method)
    if stream.empty:
        return float("nan"), False
    rows = int(stream["rows"].max())
    theirs, is_bound = seconds(table, problem, over, rows)
    return theirs / seconds(table, problem, method, rows)[0], is_bound


def speed_up_range(table: pd.DataFrame, problem: str, over: str, method: str = PAPER) -> tuple[float, float] | None:
    """The same for the fastest and the slowest run of the other method; None where fewer than two were timed."""
    theirs, ours = timed(of(table, problem, over)), of(table, problem, method)
    if theirs.empty or ours.empty:
        return None
    rows = int(ours["rows"].max())
    times = theirs[theirs["rows"] == rows]["seconds"] / seconds(table, problem, method, rows)[0]
    return (float(times.min()), float(times.max())) if len(times) > 1 else None


def draw(table: pd.DataFrame) -> dict[str, Figure]:
    """A figure for each problem that was measured."""
    known = set() if table.empty else set(table["problem"])
    return {FIGURES[problem]: _figure(table, problem) for problem in PROBLEMS if problem in known}


def _figure(table: pd.DataFrame, problem: str) -> Figure:
    figure, (evidence, time, error) = drawing.side_by_side(3)
    methods = [method for method in LABELS if not of(table, problem, method).empty]
    for number, method in enumerate(methods):
        _draw_evidence(evidence, ended(table, problem, method), number, method)
        _draw_errors(error, errors(table, problem, method), number, method)
    truth = references(table, problem)
    name = "exact" if problem in EXACT else "reference (Laplace)"
    if len(truth):
        evidence.plot(truth.index, truth / truth.index, color="black", linestyle=":", marker="_", label=name, zorder=4)
    else:
        drawing.say(error, "no reference")
    _draw_times(time, table, problem, methods)
    error.set_yscale("log")
    error.set_ylabel("relative error of log Z")
    figure.suptitle(TITLES[problem], fontsize=11)
    drawing.finish(figure, evidence)
    return figure


def _draw_evidence(panel: Axes, lines: pd.DataFrame, number: int, method: str) -> None:
    lines = lines.assign(per_row=lines["log_evidence"] / lines["rows"])
    if method in (PAPER, DEFAULT):
        drawing.seeds_curve(panel, lines, "per_row", number, LABELS[method], **drawing.style_of(number))
    else:
        drawing.points(panel, lines, "per_row", number, LABELS[method])
        _ring_unfinished(panel, lines, "per_row")


def _draw_errors(panel: Axes, lines: pd.DataFrame, number: int, method: str) -> None:
    if not lines.empty:
        drawing.points(panel, lines, "relative", number, LABELS[method], markersize=4)
        _ring_unfinished(panel, lines, "relative")


def _draw_times(panel: Axes, table: pd.DataFrame, problem: str, methods: Sequence[str]) -> None:
    times = {LABELS[method]: _times(table, problem, method) for method in methods}
    if not all(times.values()):
        drawing.say(panel, "not all timed yet")
        return
    sgais.plots.speed(times, axes=panel)
    panel.legend_ = None  # one legend serves all panels
    panel.set_xlabel("rows N")
    panel.set_ylabel("run time (seconds)")
    for method in methods:
        _ring_unfinished(panel, timed(of(table, problem, method)), "seconds")


def _times(table: pd.DataFrame, problem: str, method: str) -> list[tuple[float, float]]:
    lines = timed(of(table, problem, method))
    chosen = [
        rows for rows in lines["rows"].unique() if int(str(rows)[0]) in SPEED_ROWS and not str(rows)[1:].strip("0")
    ]
    median = lines[lines["rows"].isin([*chosen, lines["rows"].max()])].groupby("rows")["seconds"].median()
    return list(zip(median.index.astype(float), median.astype(float), strict=True))


def _ring_unfinished(panel: Axes, lines: pd.DataFrame, column: str) -> None:
    """A ring around the median of runs that were stopped or got stuck."""
    middle = lines[lines["ending"].isin([OUT_OF_TIME, STUCK])].groupby("rows")[column].median()
    panel.plot(middle.index, middle, "o", markersize=10, markerfacecolor="none", markeredgecolor="black")


def findings(table: pd.DataFrame, problem: str) -> list[Finding]:
    """What section 7.1 says of this model."""
    found = [_agrees_with_nested(table, problem), _ais_is_slower(table, problem), _chunks_cost_the_same(table, problem)]
    return [_accurate_everywhere(table), *found] if problem == "linear" else found


def _accurate_everywhere(table: pd.DataFrame) -> Finding:
    claim = "Each algorithm is able to produce accurate results for all data set sizes"
    largest = {
        LABELS[method]: found.groupby("rows")["relative"].median().max()
        for method in LABELS
        if not (found := errors(table, "linear", method)).empty
    }
    if not largest:
        return unknown(claim, "no runs")
    words = ", ".join(f"{name} {value:.2%}" for name, value in largest.items())
    return judged(claim, max(largest.values()) <= ACCURATE, f"largest relative error at any size: {words}")


def _agrees_with_nested(table: pd.DataFrame, problem: str) -> Finding:
    claim = "SGAIS converges to the same result as NS with a negligible error for large N"
    ours, theirs = (ended(table, problem, method) for method in (PAPER, NESTED))
    common = [] if ours.empty or theirs.empty else sorted(set(ours["rows"]) & set(theirs["rows"]))
    if not common:
        return unknown(claim, "no run of nested sampling came to its end")
    ours, theirs = (lines[lines["rows"] == common[-1]] for lines in (ours, theirs))
    medians = [lines["log_evidence"].median() for lines in (ours, theirs)]
    difference = abs(medians[0] - medians[1]) / abs(medians[1])
    stuck = f", where {(theirs['ending'] == STUCK).sum()} of {len(theirs)} runs of NS got stuck"
    words = f"they differ by {difference:.2%} at N = {common[-1]:,}{stuck if STUCK in set(theirs['ending']) else ''}"
    return judged(claim, difference <= NEGLIGIBLE, words)


def _ais_is_slower(table: pd.DataFrame, problem: str) -> Finding:
    claim = "AIS is much slower than NS"
    annealed, nested = (timed(of(table, problem, method)) for method in (AIS, NESTED))
    common = [] if annealed.empty or nested.empty else sorted(set(annealed["rows"]) & set(nested["rows"]))
    if not common:
        return unknown(claim, "no runs")
    (slow, slow_bound), (fast, fast_bound) = (seconds(table, problem, method, common[-1]) for method in (AIS, NESTED))
    bound = "at least " if slow_bound else ""
    caution = "; NS was stopped" if fast_bound else ""
    words = f"{bound}{slow:.3g} s against {fast:.3g} s at N = {common[-1]:,}{caution}"
    return judged(claim, slow > 2 * fast, words)


def _chunks_cost_the_same(table: pd.DataFrame, problem: str) -> Finding:
    claim = "The marginal cost of new data does not depend on the amount of data processed before"
    stream = timed(of(table, problem, PAPER))
    if stream.empty or stream["rows"].max() < 10_000:
        return unknown(claim, "the stream is too short")
    curve = stream.groupby("rows")["seconds"].median()
    end = curve.index[-1]
    half, quarter = (int(np.abs(curve.index.to_numpy() - share * end).argmin()) for share in (0.5, 0.25))
    costs = [
        1e6 * (curve.iloc[last] - curve.iloc[first]) / (curve.index[last] - curve.index[first])
        for first, last in ((quarter, half), (half, -1))
    ]
    words = f"{costs[0]:.1f} µs per row in the second quarter of the stream, {costs[1]:.1f} µs in its second half"
    return judged(claim, costs[1] < 1.3 * costs[0], words)
