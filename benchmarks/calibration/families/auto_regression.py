"""Auto-regression with unknown noise scale and wide priors: columns that are the series itself."""

from functools import partial

import numpy as np
import statsmodels.api as sm

import sgais
from benchmarks.calibration.families.linear_model import problem
from benchmarks.calibration.problem import Problem, Rows, as_float32
from sgais.streams.lagged import lagged

FAMILY = "auto-regression, unknown scale"


def problems() -> list[Problem]:
    return [
        problem("AR(5), 195 rows", FAMILY, partial(_simulated, 195, 5, 301), 6, 10.0),
        problem("AR(2), 2000 rows", FAMILY, partial(_simulated, 2000, 2, 302), 3, 100.0),
        problem("AR(9), sunspots", FAMILY, partial(_sunspots, 9), 10, 100.0),
        problem("AR(2), sunspots", FAMILY, partial(_sunspots, 2), 3, 100.0),
    ]


def _with_one(rows: Rows) -> Rows:
    return as_float32(x=np.column_stack([rows["x"], np.ones(len(rows["y"]))]), y=rows["y"])


def _simulated(num_rows: int, order: int, seed: int) -> Rows:
    return _with_one(sgais.simulate.auto_regression(num_rows, order, seed=seed).data)


def _sunspots(order: int) -> Rows:
    series = sm.datasets.sunspots.load_pandas().data["SUNACTIVITY"].to_numpy()
    return _with_one(lagged(series.astype(np.float32), order))
