"""Where we differ from the paper, and why: sentences that the tables decide."""

import numpy as np
import pandas as pd

from experiments.paper import accuracy_and_speed, data_sets, sensitivity, settings
from experiments.paper.execution import COMPLETE, STUCK
from experiments.paper.headline import FAST_LEARNING_RATE, FAST_SPEED_UP, USUAL_SPEED_UP
from experiments.paper.settings import AIS, DEFAULT, LEARNING_RATE_WITH_STEPS, NESTED, PAPER, PROBLEMS

LOST = 0.002  # relative error of a run that has ended in a poor mode
PROPORTIONAL = (0.4, 2.5)  # times the growth of the rows within which an error grows like them


def bias(table: pd.DataFrame) -> list[str]:
    """The error of log Z grows with N: mini-batch noise heats the particles."""
    found = accuracy_and_speed.errors(table, "linear", PAPER)
    if found.empty or found["rows"].max() < 10 * found["rows"].min():
        return ["Not measured: there are no errors of linear regression over a decade of rows."]
    medians = found.groupby("rows")["error"].median()
    last = int(medians.index[-1])
    first = max(rows for rows in medians.index if 10 * rows <= last)
    growth, rows_growth = medians[last] / medians[first], last / first
    is_proportional = PROPORTIONAL[0] * rows_growth < growth < PROPORTIONAL[1] * rows_growth
    words = ", ".join(f"{value:+,.1f} nats at {rows:,}" for rows, value in medians.items())
    shape = "in proportion to N" if is_proportional else "not in proportion to N"
    return [
        f"Median error of SGAIS as published on linear regression: {words} rows. From {first:,} to {last:,} rows it "
        f"grows {growth:.1f} times, {shape}. An error in proportion to N is a constant share of log Z, which is why it "
        "cannot be seen on the axes of the paper.",
        *_default_error(table, last),
    ]


def _default_error(table: pd.DataFrame, rows: int) -> list[str]:
    found = accuracy_and_speed.errors(table, "linear", DEFAULT)
    here = found[found["rows"] == rows]
    if here.empty:
        return []
    return [f"Our default ends {here['error'].median():+.2f} nats from the exact value at {rows:,} rows."]


def resampling(table: pd.DataFrame) -> list[str]:
    """Weights that are never reset."""
    shares = [
        f"{problem} {lines['weight_ess'].median():.1f}"
        for problem in PROBLEMS
        if len(lines := _last(table, problem, PAPER))
    ]
    if not shares:
        return ["Not measured."]
    return [f"Effective particles (of 10) that the weights leave at the end, as published: {', '.join(shares)}."]


def moves(table: pd.DataFrame) -> list[str]:
    """Moves only when they pay."""
    sentences = []
    for problem in PROBLEMS:
        counts = {method: _moves_per_chunk(table, problem, method) for method in (PAPER, DEFAULT)}
        if not np.isnan(list(counts.values())).any():
            sentences.append(f"{problem}: {counts[PAPER]:.2f} as published, {counts[DEFAULT]:.2f} by default")
    if not sentences:
        return ["Not measured."]
    return [f"Moves of the particles per chunk, over the whole stream. {'; '.join(sentences)}."]


def modes(table: pd.DataFrame) -> list[str]:
    """Runs on the mixture that end in an arrangement of its components far below the best."""
    errors = {method: accuracy_and_speed.final_errors(table, "mixture", method) for method in (PAPER, DEFAULT)}
    if errors[PAPER].empty:
        return ["Not measured: there is no reference for the mixture."]
    lost = errors[PAPER][errors[PAPER]["relative"] > LOST]
    words = {
        method: ", ".join(f"{error:+,.0f}" for error in sorted(found["error"])) or "none"
        for method, found in errors.items()
    }
    rows = int(errors[PAPER]["rows"].max())
    return [
        f"Errors in nats on this data set with N = {rows:,}: {words[PAPER]} as published; {words[DEFAULT]} by default. "
        f"{len(lost)} of {len(errors[PAPER])} published runs are off by more than {LOST:.1%}, as those are that have "
        "ended in another mode."
    ]


def choice(table: pd.DataFrame) -> list[str]:
    """How much the published algorithm's error depends on the data, and which data are shown."""
    if table.empty:
        return [f"Figures 4 and 6 to 8 show data set {sensitivity.DATA_SET} of the simulated ones."]
    found, rows = data_sets.summary(table), int(table["rows"].max())
    lost = int((found["median"] > LOST).sum())
    return [
        f"So SGAIS as published saw {len(found)} data sets, the first {rows:,} rows of each, {found['count'].max()} "
        f"times. The median error is more than {LOST:.1%} on {lost} of them. Data set {data_sets.typical(table)} is in "
        f"the middle; figures 4 and 6 to 8 show data set {sensitivity.DATA_SET}."
    ]


def nested_ends(table: pd.DataFrame) -> list[str]:
    """Where nested sampling stops before it has reached the posterior."""
    sentences = []
    for problem in PROBLEMS:
        lines, truth = accuracy_and_speed.of(table, problem, NESTED), accuracy_and_speed.references(table, problem)
        stuck = lines if lines.empty else lines[(lines["ending"] == STUCK) & lines["rows"].isin(truth.index)]
        if stuck.empty:
            continue
        most = int(stuck["rows"].max())
        here = stuck[stuck["rows"] == most]
        share = ((truth[most] - here["log_evidence"]) / abs(truth[most])).median()
        first = int(stuck["rows"].min())
        sentences.append(f"{problem}: from {first:,} rows on, with a log Z {share:.2%} too low at {most:,}")
    if not sentences:
        return ["None of our runs got stuck."]
    return [
        f"Runs that got stuck. {'; '.join(sentences)}. The differences of 0.6 % and 0.1 % that the paper finds between "
        "NS and SGAIS are of a like size."
    ]


def learning_rate_of_one(table: pd.DataFrame, varied: pd.DataFrame) -> list[str]:
    """What a learning rate of 1.0 with two steps gains, beside what it gained in the paper."""
    if varied.empty or LEARNING_RATE_WITH_STEPS not in set(varied["parameter"]):
        return ["Not measured."]
    found = sensitivity.summary(varied, LEARNING_RATE_WITH_STEPS)
    fast, usual = (found.loc[value] for value in (FAST_LEARNING_RATE, settings.PUBLISHED["learning_rate"]))
    rows = int(varied["rows"].max())
    theirs, is_bound = accuracy_and_speed.seconds(table, sensitivity.PROBLEM, settings.NESTED, rows)
    steps = [
        each["steps_per_chunk"] * round(settings.PRODUCT / rate)
        for each, rate in ((fast, FAST_LEARNING_RATE), (usual, settings.PUBLISHED["learning_rate"]))
    ]
    gain, published_gain = usual["seconds"] / fast["seconds"], FAST_SPEED_UP / USUAL_SPEED_UP
    nested = (
        f"{'at least ' if is_bound else ''}{theirs:.3g} s, {theirs / fast['seconds']:.1f} times as long as the former"
    )
    return [
        f"On the mixture with N = {rows:,}, a learning rate of 1.0 with 2 SGHMC steps takes {fast['seconds']:.3g} s, "
        f"one of 0.1 with 20 steps {usual['seconds']:.3g} s: {gain:.1f} times as long, where the paper's speed-ups "
        f"over NS ({FAST_SPEED_UP:g} and {USUAL_SPEED_UP:g}) say {published_gain:.1f}. A chunk takes "
        f"{fast['steps_per_chunk']:.1f} intermediate distributions instead of {usual['steps_per_chunk']:.1f}, hence "
        f"{steps[0]:.1f} SGHMC steps instead of {steps[1]:.1f}; and each distribution costs a weighing and the handing "
        f"over to compiled code besides. Nested sampling takes {'an unknown time' if np.isnan(theirs) else nested}."
    ]


def stopping(table: pd.DataFrame, limit: float) -> list[str]:
    """What a limit below the paper's still tells: how many times longer than SGAIS a stopped run has taken."""
    times = {problem: _seconds_at_the_end(table, problem) for problem in PROBLEMS}
    known = {problem: seconds for problem, seconds in times.items() if not np.isnan(seconds)}
    if not known:
        return ["Not measured."]
    words = ", ".join(f"{limit / seconds:.0f} times ({problem}, {seconds:.3g} s)" for problem, seconds in known.items())
    return [
        f"A run that is stopped after {limit:g} s has taken as long as SGAIS as published on all rows {words}.",
        *_growth(table),
    ]


def _seconds_at_the_end(table: pd.DataFrame, problem: str) -> float:
    rows = _last(table, problem, PAPER)["rows"] if len(table) else pd.Series(dtype=int)
    return accuracy_and_speed.seconds(table, problem, PAPER, int(rows.max()))[0] if len(rows) else float("nan")


def _growth(table: pd.DataFrame) -> list[str]:
    """Between the two largest sizes at which a method came to its end: does its time grow like the rows?"""
    grown = []
    for problem in PROBLEMS:
        for method in (NESTED, AIS):
            ended = accuracy_and_speed.timed(accuracy_and_speed.of(table, problem, method, COMPLETE))
            times = ended.groupby("rows")["seconds"].median() if len(ended) else ended
            if len(times) > 1:
                rows_growth = times.index[-1] / times.index[-2]
                growth = times.iloc[-1] / times.iloc[-2]
                grown.append(f"{growth:.1f} times on {rows_growth:.1f} times the rows ({method}, {problem})")
    words = f"Between the two largest sizes at which it ended, the time of a run grew {'; '.join(grown)}."
    return [words] if grown else []


def _moves_per_chunk(table: pd.DataFrame, problem: str, method: str) -> float:
    lines = accuracy_and_speed.of(table, problem, method)
    return float("nan") if lines.empty else float((lines["moves"] * lines["chunks"]).sum() / lines["chunks"].sum())


def _last(table: pd.DataFrame, problem: str, method: str) -> pd.DataFrame:
    lines = accuracy_and_speed.of(table, problem, method)
    return lines if lines.empty else lines[lines["rows"] == lines["rows"].max()]
