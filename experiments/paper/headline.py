"""The numbers by which the paper is quoted: final errors and speed-ups."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from experiments.paper import accuracy_and_speed, sensitivity
from experiments.paper.findings import Verdict
from experiments.paper.settings import AIS, DEFAULT, LEARNING_RATE_WITH_STEPS, NESTED, PAPER


class Headline(NamedTuple):
    """A published number beside ours.

    Attributes:
        name: What is counted.
        published: In the paper.
        as_published: By the same algorithm and parameters, here; with its spread over the seeds.
        default: By our default.
        seeds: Behind the second number.
        asked: What the second number has to be.
        verdict: Whether it is.
    """

    name: str
    published: str
    as_published: str
    default: str
    seeds: int
    asked: str
    verdict: Verdict


FINAL_ERRORS = {"linear": (0.1, 0.2), "logistic": (0.6, 0.8), "mixture": (0.1, 0.2)}  # %, published and asked
FAST_LEARNING_RATE, FAST_SPEED_UP, USUAL_SPEED_UP = 1.0, 83.0, 4.9  # of the mixture, over nested sampling
SPEED_UPS = (
    ("linear", NESTED, 3.3),
    ("linear", AIS, 24.9),
    ("logistic", NESTED, 10.4),
    ("mixture", NESTED, USUAL_SPEED_UP),
)
NONE = "not measured"
PUBLISHED_ROWS = 1_000_000  # of all these numbers; at fewer rows ours are shown, but not judged


def headlines(accuracy: pd.DataFrame, varied: pd.DataFrame) -> list[Headline]:
    """All of them."""
    return [
        *(_final_error(accuracy, problem) for problem in FINAL_ERRORS),
        *(_speed_up(accuracy, *published) for published in SPEED_UPS),
        _fast(accuracy, varied),
    ]


def _final_error(table: pd.DataFrame, problem: str) -> Headline:
    published, asked = FINAL_ERRORS[problem]
    found = accuracy_and_speed.final_errors(table, problem, PAPER)
    rows = int(found["rows"].max()) if len(found) else 0
    return Headline(
        f"final error, {problem}{_at(rows)}",
        f"{published} %",
        _error_words(found),
        _error_words(accuracy_and_speed.final_errors(table, problem, DEFAULT)),
        len(found),
        f"at most {asked} %",
        _verdict(found["relative"].median() <= asked / 100) if rows == PUBLISHED_ROWS else Verdict.UNKNOWN,
    )


def _at(rows: int) -> str:
    return f", N = {rows:,}" if rows else ""


def _error_words(found: pd.DataFrame) -> str:
    if found.empty:
        return NONE
    lowest, median, highest = (_percent(float(found["relative"].quantile(share))) for share in (0.0, 0.5, 1.0))
    return f"{median} ({lowest} to {highest}), {found['error'].median():+,.1f} nats"


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %"


def _speed_up(table: pd.DataFrame, problem: str, over: str, published: float) -> Headline:
    ours, default = (accuracy_and_speed.speed_up(table, problem, over, method) for method in (PAPER, DEFAULT))
    stream = accuracy_and_speed.timed(accuracy_and_speed.of(table, problem, PAPER))
    rows = int(stream["rows"].max()) if len(stream) else 0
    return Headline(
        f"speed-up over {over}, {problem}{_at(rows)}",
        f"{published}",
        _ratio_words(*ours) + _range_words(accuracy_and_speed.speed_up_range(table, problem, over)),
        _ratio_words(*default),
        stream["seed"].nunique() if len(stream) else 0,
        f"at least {published}",
        _speed_verdict(*ours, published, rows),
    )


def _fast(accuracy: pd.DataFrame, varied: pd.DataFrame) -> Headline:
    """NS over SGAIS with a learning rate of 1.0 and two steps, at the same number of rows."""
    rows = 0 if varied.empty else int(varied["rows"].max())
    chosen = (LEARNING_RATE_WITH_STEPS, FAST_LEARNING_RATE, rows)
    lines = varied if varied.empty else varied[(varied[["parameter", "value", "rows"]] == chosen).all(axis=1)]
    lines = accuracy_and_speed.timed(lines)
    theirs, is_bound = accuracy_and_speed.seconds(accuracy, sensitivity.PROBLEM, NESTED, rows)
    ratio = theirs / lines["seconds"].median() if len(lines) else float("nan")
    return Headline(
        f"speed-up over {NESTED}, mixture, learning rate 1.0{_at(rows)}",
        f"{FAST_SPEED_UP:.0f}",
        _ratio_words(ratio, is_bound),
        "",
        lines["seed"].nunique() if len(lines) else 0,
        f"at least {FAST_SPEED_UP:.0f}",
        _speed_verdict(ratio, is_bound, FAST_SPEED_UP, rows),
    )


def _ratio_words(ratio: float, is_bound: bool) -> str:
    return NONE if np.isnan(ratio) else f"{'at least ' if is_bound else ''}{ratio:.1f}"


def _range_words(ends: tuple[float, float] | None) -> str:
    return f" ({ends[0]:.1f} to {ends[1]:.1f})" if ends else ""


def _speed_verdict(ratio: float, is_bound: bool, published: float, rows: int) -> Verdict:
    """A lower bound that is too low says nothing."""
    is_unknown = np.isnan(ratio) or (is_bound and ratio < published) or rows != PUBLISHED_ROWS
    return Verdict.UNKNOWN if is_unknown else _verdict(ratio >= published)


def _verdict(holds: bool) -> Verdict:
    return Verdict.AGREES if holds else Verdict.DIFFERS
