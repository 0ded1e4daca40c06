"""Figures 6 to 8 and appendix C: six parameters of SGAIS as published, varied one at a time, on the mixture.

Each parameter has a figure of three panels (log Z / N, run time, annealing steps per chunk): eighteen in all, which
appendix C arranges by panel instead.
"""

from collections.abc import Callable, Iterable

import pandas as pd
from matplotlib.figure import Figure

from experiments.paper import drawing, tables
from experiments.paper.cache import Cache, Run
from experiments.paper.execution import COMPLETE
from experiments.paper.findings import Finding, falls, judged, rises, unknown
from experiments.paper.settings import (
    DATA_SETS,
    LEARNING_RATE_WITH_STEPS,
    PAPER,
    PRODUCT,
    PUBLISHED,
    REFERENCE,
    VARIED,
    Settings,
)
from experiments.paper.task import Task

TABLE = "sensitivity"
PROBLEM = "mixture"
DATA_SET = DATA_SETS[PROBLEM]
FIGURES = {
    "target_ess_fraction": "figure6",
    "learning_rate": "figure7",
    LEARNING_RATE_WITH_STEPS: "figure8",
    "num_particles": "appendix-c-particles",
    "num_steps": "appendix-c-steps",
    "batch_size": "appendix-c-mini-batch",
}
TITLES = {
    "target_ess_fraction": "Target ESS, over the number of particles",
    "learning_rate": "Learning rate per observation",
    LEARNING_RATE_WITH_STEPS: "Learning rate, times SGHMC steps constant",
    "num_particles": "Number of particles M",
    "num_steps": "SGHMC steps per intermediate distribution",
    "batch_size": "Mini-batch size",
}
CLAIMS = {
    "target_ess_fraction": "A higher target ESS results in more annealing steps, most of them early. Without annealing "
    "the variance is high early on. Any target above 1 converges within acceptable accuracy.",
    "learning_rate": "A smaller learning rate gives less accurate estimates over a longer time, with more annealing "
    "steps.",
    LEARNING_RATE_WITH_STEPS: "Fewer steps with a larger learning rate are faster, less accurate, and take more "
    "annealing steps; a learning rate of 1.0 is still of acceptable accuracy on a million rows, and 83 times faster "
    "than NS.",
    "num_particles": "More particles are more accurate and slower, without much effect on the annealing steps.",
    "num_steps": "Fewer burn-in steps are faster, less accurate, and take more annealing steps.",
    "batch_size": "Larger mini-batches are more accurate, with fewer Bayesian updates and more annealing steps for "
    "each.",
}
STEPS_SHOWN_TO = 50_000  # rows, as in the paper
EARLY = 0.1  # of the stream
ACCEPTABLE = 0.01  # relative
UNCHANGED = 0.25  # relative
SMALL_IMPACT = 1.5  # times the run time


def tasks(settings: Settings) -> list[Task]:
    """A stream for each value and seed. The published value, which all parameters share, is one run."""
    varied = [
        task
        for parameter, values in VARIED.items()
        for value in values
        for task in _streams(settings, parameter, value)
    ]
    return [*varied, _reference(settings)]


def _streams(settings: Settings, parameter: str, value: float) -> list[Task]:
    first, *_ = settings.sensitivity_seeds
    chosen = parameters_of(parameter, value)
    return [
        Task(PROBLEM, PAPER, settings.sensitivity_rows, settings.data_rows, seed, chosen, DATA_SET, timed=seed == first)
        for seed in settings.sensitivity_seeds
    ]


def _reference(settings: Settings) -> Task:
    return Task(PROBLEM, REFERENCE, settings.sensitivity_rows, settings.data_rows, seed=0, data_set=DATA_SET)


def parameters_of(parameter: str, value: float) -> dict[str, float]:
    """What differs from the published parameters."""
    if parameter == LEARNING_RATE_WITH_STEPS:
        chosen = {"learning_rate": value, "num_steps": round(PRODUCT / value)}
    else:
        chosen = {parameter: value}
    return {name: number for name, number in chosen.items() if number != PUBLISHED[name]}


def gather(settings: Settings, cache: Cache) -> pd.DataFrame:
    """The table of all eighteen panels; the published values are in it once for every parameter."""
    parts = []
    for parameter, values in VARIED.items():
        for value in values:
            part = tables.gather(_streams(settings, parameter, value), cache, settings.limit, _lines)
            parts.append(part.assign(parameter=parameter, value=value))
    reference = tables.gather([_reference(settings)], cache, settings.limit, _reference_lines)
    filled = [part for part in (*parts, reference) if not part.empty]
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame()


def _lines(task: Task, run: Run) -> Iterable[tables.Line]:
    columns = ("rows", "log_evidence", "seconds", "chunks", "annealing_steps")
    return [
        {"parameter": "", "value": 0.0, "seed": task.seed} | {name: line[name] for name in columns}
        for line in tables.curve_lines(run)
    ]


def _reference_lines(task: Task, run: Run) -> Iterable[tables.Line]:
    if run.outcome.ending != COMPLETE:
        return []
    known = {"parameter": REFERENCE, "value": 0.0, "seed": 0, "rows": task.rows}
    return [known | {"log_evidence": run.outcome.log_evidence}]


def draw(table: pd.DataFrame) -> dict[str, Figure]:
    """A figure for each parameter that was varied."""
    known = set() if table.empty else set(table["parameter"])
    return {FIGURES[name]: _figure(table, name) for name in VARIED if name in known}


def _figure(everything: pd.DataFrame, parameter: str) -> Figure:
    figure, (evidence, time, steps) = drawing.side_by_side(3)
    everything = everything.assign(per_row=everything["log_evidence"] / everything["rows"])
    table, truth = (everything[everything["parameter"] == name] for name in (parameter, REFERENCE))
    for number, value in enumerate(sorted(table["value"].unique())):
        lines, style = table[table["value"] == value], drawing.style_of(number)
        drawing.seeds_curve(evidence, lines, "per_row", number, _label(parameter, value), **style)
        drawing.seeds_curve(time, lines, "seconds", number, None, **style)
        early = lines[lines["rows"] <= STEPS_SHOWN_TO]
        drawing.seeds_curve(steps, early, "annealing_steps", number, None, **style)
    if len(truth):
        evidence.plot(truth["rows"], truth["per_row"], "k_", markersize=12, label="reference", zorder=4)
    if table["seconds"].notna().any():
        time.set_yscale("log")
    else:
        drawing.say(time, "not timed yet")
    time.set_ylabel("run time (seconds)")
    steps.set_yscale("log")
    steps.set_ylabel("annealing steps per chunk")
    figure.suptitle(TITLES[parameter], fontsize=11)
    drawing.finish(figure, evidence)
    return figure


def _label(parameter: str, value: float) -> str:
    if parameter == LEARNING_RATE_WITH_STEPS:
        return f"{value:g} x {round(PRODUCT / value)} steps"
    return f"{value:g}"


def summary(table: pd.DataFrame, parameter: str) -> pd.DataFrame:
    """Medians over the seeds for each value, rising: relative error, seconds, chunks, annealing steps.

    `steps` are those of the whole stream, `early_steps` those of its first tenth.
    """
    lines = table[table["parameter"] == parameter]
    truth = table[table["parameter"] == REFERENCE]["log_evidence"]
    exact = float(truth.iloc[0]) if len(truth) else float("nan")
    end = table["rows"].max()
    runs = []
    for (value, seed), run in lines.groupby(["value", "seed"]):
        last, all_steps = run.iloc[-1], run["chunks"] * run["annealing_steps"]
        is_whole = last["rows"] == end
        runs.append(
            {
                "value": value,
                "seed": seed,
                "error": abs(last["log_evidence"] - exact) / abs(exact) if is_whole else float("nan"),
                "seconds": last["seconds"] if is_whole else float("inf"),
                "chunks": run["chunks"].sum(),
                "steps": all_steps.sum(),
                "early_steps": all_steps[run["rows"] <= EARLY * end].sum(),
            }
        )
    found = pd.DataFrame(runs).groupby("value").median().sort_index().drop(columns="seed")
    return found.assign(steps_per_chunk=found["steps"] / found["chunks"])


def findings(table: pd.DataFrame, parameter: str) -> list[Finding]:
    """What section 7.3 says of this parameter."""
    is_there = not table.empty and parameter in set(table["parameter"])
    found = summary(table, parameter) if is_there else None
    return [unknown(claim, "no runs") if found is None else check(claim, found) for claim, check in CHECKS[parameter]]


Check = Callable[[str, pd.DataFrame], Finding]


def _trend(column: str, grows: bool, name: str, form: str) -> Check:
    """Whether a column grows or shrinks with the parameter."""

    def check(claim: str, found: pd.DataFrame) -> Finding:
        values = found[column].tolist()
        if found[column].isna().any():
            return unknown(claim, "there is no reference for the mixture, or a stream was stopped")
        words = ", ".join(f"{value:{form}} at {at:g}" for at, value in found[column].items())
        return judged(claim, rises(values) if grows else falls(values), f"{name}: {words}")

    return check


def _most_steps_are_early(claim: str, found: pd.DataFrame) -> Finding:
    added, early = (found[name].iloc[-1] - found[name].iloc[0] for name in ("steps", "early_steps"))
    if added <= 0:
        return judged(claim, False, "the highest target does not take more steps than the lowest")
    words = f"{early / added:.0%} of the steps that the highest target adds are in the first tenth of the rows"
    return judged(claim, early > 0.5 * added, words)


def _one_step_at_the_lowest(claim: str, found: pd.DataFrame) -> Finding:
    at, steps = found.index[0], found["steps_per_chunk"].iloc[0]
    holds = bool(at * PUBLISHED["num_particles"] <= 1 and steps == 1)
    return judged(claim, holds, f"{steps:.2f} steps per chunk at {at:g} M")


def _acceptable_above_one(claim: str, found: pd.DataFrame) -> Finding:
    above = found[found.index * PUBLISHED["num_particles"] > 1]["error"]
    if above.isna().any():
        return unknown(claim, "there is no reference for the mixture, or a stream was stopped")
    return judged(claim, bool((above <= ACCEPTABLE).all()), f"largest relative error {above.max():.2%}")


def _small_impact_on_time(claim: str, found: pd.DataFrame) -> Finding:
    published = PUBLISHED["target_ess_fraction"]
    if published not in found.index:
        return unknown(claim, "the published target was not run")
    ratio = found["seconds"].loc[published] / found["seconds"].iloc[0]
    return judged(claim, ratio <= SMALL_IMPACT, f"{ratio:.2f} times the run time at the published target")


def _steps_unchanged(claim: str, found: pd.DataFrame) -> Finding:
    steps = found["steps_per_chunk"]
    words = ", ".join(f"{value:.2f} at {at:g}" for at, value in steps.items())
    holds = steps.max() <= (1 + UNCHANGED) * steps.min()
    return judged(claim, bool(holds), f"annealing steps per chunk: {words}")


def _acceptable_at_the_largest(claim: str, found: pd.DataFrame) -> Finding:
    error = found["error"].iloc[-1]
    if pd.isna(error):
        return unknown(claim, "there is no reference for the mixture, or a stream was stopped")
    return judged(claim, error <= ACCEPTABLE, f"relative error {error:.2%} at {found.index[-1]:g}")


LESS_ERROR = _trend("error", False, "relative error of log Z", ".3%")
MORE_ERROR = _trend("error", True, "relative error of log Z", ".3%")
SLOWER = _trend("seconds", True, "seconds", ".3g")
FASTER = _trend("seconds", False, "seconds", ".3g")
MORE_STEPS = _trend("steps_per_chunk", True, "annealing steps per chunk", ".2f")
FEWER_STEPS = _trend("steps_per_chunk", False, "annealing steps per chunk", ".2f")
FEWER_CHUNKS = _trend("chunks", False, "Bayesian updates", ".0f")
CHECKS: dict[str, tuple[tuple[str, Check], ...]] = {
    "target_ess_fraction": (
        ("A higher target ESS results in more annealing steps", MORE_STEPS),
        ("Most of this work is done in the early stages", _most_steps_are_early),
        ("A target ESS of 1 requires no annealing steps", _one_step_at_the_lowest),
        ("A target ESS larger than 1 converges within acceptable accuracy", _acceptable_above_one),
        ("Annealing adaptively has only a small impact on the run-time", _small_impact_on_time),
    ),
    "learning_rate": (
        ("A smaller learning rate results in less accurate estimates", LESS_ERROR),
        ("A smaller learning rate takes a longer time", FASTER),
        ("A smaller learning rate results in more annealing steps", FEWER_STEPS),
    ),
    LEARNING_RATE_WITH_STEPS: (
        ("Fewer steps with a larger learning rate are faster", FASTER),
        ("Fewer steps with a larger learning rate are less accurate", MORE_ERROR),
        ("Fewer steps with a larger learning rate need more annealing steps", MORE_STEPS),
        ("A learning rate of 1.0 is of acceptable accuracy", _acceptable_at_the_largest),
    ),
    "num_particles": (
        ("More particles are more accurate", LESS_ERROR),
        ("More particles take longer", SLOWER),
        ("More particles have not much effect on the number of annealing steps", _steps_unchanged),
    ),
    "num_steps": (
        ("Fewer burn-in steps are less accurate", LESS_ERROR),
        ("Fewer burn-in steps are faster", SLOWER),
        ("Fewer burn-in steps result in more annealing steps", FEWER_STEPS),
    ),
    "batch_size": (
        ("Larger mini-batches are more accurate", LESS_ERROR),
        ("Larger mini-batches result in fewer Bayesian updates", FEWER_CHUNKS),
        ("Larger mini-batches need more annealing steps per chunk", MORE_STEPS),
    ),
}
