"""Which mixture? The paper's data are not published, and how well ten particles do depends on the data.

So the published algorithm sees several data sets that differ in nothing but their seed. The one in the middle, by the
median error of its runs, is the one that figures 4 and 6 to 8 are drawn for.
"""

from collections.abc import Iterable

import pandas as pd

from experiments.paper import tables
from experiments.paper.cache import Cache, Run
from experiments.paper.execution import COMPLETE, DOUBTFUL
from experiments.paper.settings import PAPER, REFERENCE, Settings
from experiments.paper.task import Task

TABLE = "data_sets"
PROBLEM = "mixture"


def tasks(settings: Settings) -> list[Task]:
    """A few runs of SGAIS as published on each data set, and its reference."""
    rows, data_rows = settings.data_set_rows, settings.data_rows
    return [
        Task(PROBLEM, method, rows, data_rows, seed, data_set=data_set)
        for data_set in settings.data_sets
        for method, seeds in ((PAPER, settings.data_set_seeds), (REFERENCE, (0,)))
        for seed in seeds
    ]


def gather(settings: Settings, cache: Cache) -> pd.DataFrame:
    """A line for each run."""
    return tables.gather(tasks(settings), cache, settings.limit, _lines)


def _lines(task: Task, run: Run) -> Iterable[tables.Line]:
    # A reference that is good to a nat instead of a tenth of it is good enough for errors of hundreds.
    if run.outcome.ending not in (COMPLETE, DOUBTFUL):
        return []
    known = {"data_set": task.data_set, "method": task.method, "seed": task.seed, "rows": task.rows}
    return [known | {"log_evidence": run.outcome.log_evidence}]


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Relative errors of the published runs by data set: their number, least, median and largest."""
    if table.empty:
        return pd.DataFrame(columns=["count", "min", "median", "max"])
    runs = table[table["method"] == PAPER]
    truth = runs["data_set"].map(table[table["method"] == REFERENCE].set_index("data_set")["log_evidence"])
    errors = ((runs["log_evidence"] - truth) / truth).abs().dropna()
    return errors.groupby(runs["data_set"]).agg(["count", "min", "median", "max"])


def typical(table: pd.DataFrame) -> int:
    """The data set in the middle."""
    medians = summary(table)["median"].sort_values()
    return int(medians.index[len(medians) // 2])
