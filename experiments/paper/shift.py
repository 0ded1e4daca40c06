"""Figure 5: mixtures of 3, 5 and 7 components on data that gain clusters, in order and shuffled."""

from collections.abc import Iterable
from math import isnan
from typing import NamedTuple

import pandas as pd
from matplotlib.figure import Figure

from experiments.paper import drawing, tables
from experiments.paper.cache import Cache, Run
from experiments.paper.findings import Finding, judged, unknown
from experiments.paper.problems import IN_ORDER, SHUFFLED, change_points
from experiments.paper.settings import COMPONENTS, DEFAULT, PAPER, Settings
from experiments.paper.task import Task

TABLE = "shift"
FIGURES = {PAPER: "figure5", DEFAULT: "figure5-default"}
CLAIM = (
    "For the data in order log Z / N changes sharply at 1000 and 10,000 rows, so that the change-points can be told by "
    "eye. Annealing steps have spikes there, and stay many once the data have more clusters than the model. The final "
    "estimates for data in order and shuffled agree; 5 and 7 components have similar evidences, above that of 3."
)
SHARP = 3.0  # times the change that the shuffled data show at the same place
SPIKE = 2.0  # times the annealing steps before
AGREEMENT = 0.01  # relative
TOO_FEW_CHUNKS = "there are too few chunks around the change-points"


def tasks(settings: Settings) -> list[Task]:
    """Three models, two orders."""
    return [
        Task(problem, method, settings.shift_rows, settings.shift_rows, seed, {"components": components})
        for method in settings.shift_methods
        for components in COMPONENTS
        for problem in (IN_ORDER, SHUFFLED)
        for seed in settings.shift_seeds
    ]


def gather(settings: Settings, cache: Cache) -> pd.DataFrame:
    """The table of figure 5."""
    return tables.gather(tasks(settings), cache, settings.limit, _lines)


def _lines(task: Task, run: Run) -> Iterable[tables.Line]:
    known = {
        "method": task.method,
        "components": int(task.parameters["components"]),
        "order": "in order" if task.problem == IN_ORDER else "shuffled",
        "seed": task.seed,
    }
    columns = ("rows", "log_evidence", "standard_error", "chunks", "annealing_steps", "most_annealing_steps")
    return [known | {name: line[name] for name in columns} for line in tables.curve_lines(run)]


def draw(table: pd.DataFrame) -> dict[str, Figure]:
    """A figure for each version of SGAIS that saw the data."""
    known = [] if table.empty else [method for method in FIGURES if method in set(table["method"])]
    return {FIGURES[method]: _figure(table[table["method"] == method], method) for method in known}


def _figure(table: pd.DataFrame, method: str) -> Figure:
    figure, (evidence, steps) = drawing.side_by_side(2)
    table = table.assign(per_row=table["log_evidence"] / table["rows"])
    for number, components in enumerate(COMPONENTS):
        for order, dashes in (("in order", "-"), ("shuffled", "--")):
            lines = table[(table["components"] == components) & (table["order"] == order)]
            drawing.seeds_curve(evidence, lines, "per_row", number, f"K = {components}, {order}", linestyle=dashes)
            if order == "in order":
                drawing.seeds_curve(steps, lines, "most_annealing_steps", number, None)
    for panel in (evidence, steps):
        drawing.marks(panel, change_points(int(table["rows"].max())), "the data change")
    steps.set_yscale("log" if method == PAPER else "symlog")
    steps.set_ylabel("annealing steps per chunk")
    figure.suptitle(f"Mixtures of 3, 5 and 7 components on data that gain clusters ({method})", fontsize=11)
    drawing.finish(figure, evidence)
    return figure


class Curve(NamedTuple):
    """The median run of a model, in order or shuffled."""

    rows: pd.Series
    log_evidence: pd.Series
    steps: pd.Series

    def per_row(self, start: float, end: float) -> float:
        """Log predictive of each of the rows between the points from `start` to `end`; NaN if there are none."""
        inside = (self.rows >= start) & (self.rows <= end)
        if inside.sum() < 2:
            return float("nan")
        rows, values = self.rows[inside], self.log_evidence[inside]
        return float((values.iloc[-1] - values.iloc[0]) / (rows.iloc[-1] - rows.iloc[0]))

    def most_steps(self, start: float, end: float) -> float:
        """Annealing steps of the hardest chunk after `start`, up to `end`."""
        return float(self.steps[(self.rows > start) & (self.rows <= end)].max())

    def typical_steps(self, start: float, end: float) -> float:
        """Of half of the points after `start`, up to `end`, no more than these."""
        return float(self.steps[(self.rows > start) & (self.rows <= end)].median())


def curve(table: pd.DataFrame, components: int, order: str, method: str = PAPER) -> Curve:
    """Medians over the seeds."""
    lines = table[(table["components"] == components) & (table["order"] == order) & (table["method"] == method)]
    medians = lines.groupby("rows")[["log_evidence", "most_annealing_steps"]].median().reset_index()
    return Curve(medians["rows"], medians["log_evidence"], medians["most_annealing_steps"])


def findings(table: pd.DataFrame) -> list[Finding]:
    """What section 7.2 says, of SGAIS as published."""
    claims = {
        "Log Z / N shows sharp changes at the change-points": _changes_sharply,
        "Annealing steps exhibit spikes at the change-points": _spikes,
        "They remain high once there are more clusters than the model can describe": _remains_high,
        "The final estimates for shuffled and for ordered data agree": _orders_agree,
        "5 and 7 components describe the data better than 3, and have similar evidences": _five_and_seven_are_similar,
        "The difference between the orders is small enough to tell 3 components from 5 and 7": _models_are_told_apart,
    }
    is_there = not table.empty and set(COMPONENTS) <= set(table[table["method"] == PAPER]["components"])
    return [check(claim, table) if is_there else unknown(claim, "no runs") for claim, check in claims.items()]


def _changes_sharply(claim: str, table: pd.DataFrame) -> Finding:
    """How much worse rows right after the change are predicted than those right before."""
    changes, holds = [], True
    for place in change_points(int(table["rows"].max())):
        for components in COMPONENTS:
            in_order, shuffled = (
                of.per_row(place, 1.6 * place) - of.per_row(0.4 * place, place)
                for of in (curve(table, components, order) for order in ("in order", "shuffled"))
            )
            if isnan(in_order - shuffled):
                return unknown(claim, TOO_FEW_CHUNKS)
            holds = holds and abs(in_order) > SHARP * abs(shuffled)
            changes.append(f"{in_order:+.2f} ({shuffled:+.2f}) at {place:,} with {components}")
    return judged(claim, holds, "log Z per row, after less before, in order (and shuffled): " + "; ".join(changes))


def _spikes(claim: str, table: pd.DataFrame) -> Finding:
    spikes, holds = [], True
    for place in change_points(int(table["rows"].max())):
        for components in COMPONENTS:
            of = curve(table, components, "in order")
            after, before = of.most_steps(place, 1.6 * place), of.typical_steps(0.6 * place, place)
            if isnan(after - before):
                return unknown(claim, TOO_FEW_CHUNKS)
            holds = holds and after >= SPIKE * before
            spikes.append(f"{before:.0f} to {after:.0f} at {place:,} with {components}")
    return judged(claim, holds, "steps per chunk from before to after: " + "; ".join(spikes))


def _remains_high(claim: str, table: pd.DataFrame) -> Finding:
    end = int(table["rows"].max())
    steps = {components: curve(table, components, "in order").typical_steps(end / 2, end) for components in COMPONENTS}
    words = ", ".join(f"{value:.0f} with {components}" for components, value in steps.items())
    return judged(claim, steps[3] > steps[7], f"steps of a typical chunk in the second half: {words} components")


def _final(table: pd.DataFrame, components: int, order: str) -> float:
    return float(curve(table, components, order).log_evidence.iloc[-1])


def _gaps(table: pd.DataFrame) -> dict[int, float]:
    return {each: _final(table, each, "in order") - _final(table, each, "shuffled") for each in COMPONENTS}


def _orders_agree(claim: str, table: pd.DataFrame) -> Finding:
    gaps = _gaps(table)
    largest = max(abs(gap / _final(table, components, "shuffled")) for components, gap in gaps.items())
    words = ", ".join(f"{gap:+,.0f} with {components}" for components, gap in gaps.items())
    return judged(claim, largest <= AGREEMENT, f"nats, in order less shuffled: {words}; at most {largest:.2%}")


def _five_and_seven_are_similar(claim: str, table: pd.DataFrame) -> Finding:
    three, five, seven = (_final(table, components, "shuffled") for components in COMPONENTS)
    holds = min(five, seven) > three and abs(seven - five) < min(five, seven) - three
    words = f"5 less 3 components: {five - three:+,.0f} nats; 7 less 5: {seven - five:+,.0f} nats (shuffled)"
    return judged(claim, holds, words)


def _models_are_told_apart(claim: str, table: pd.DataFrame) -> Finding:
    largest = max(abs(gap) for gap in _gaps(table).values())
    three, five, seven = (_final(table, components, "shuffled") for components in COMPONENTS)
    lead = min(five, seven) - three
    return judged(claim, largest < lead, f"the orders differ by up to {largest:,.0f} nats, the models by {lead:,.0f}")
