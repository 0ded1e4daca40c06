"""Data sets that come with statsmodels, as standardised columns and an outcome."""

from functools import cache

import numpy as np
import statsmodels.api as sm

from benchmarks.calibration.problem import Rows, as_float32


@cache
def load(name: str, outcome: str, drop: tuple[str, ...] = ()) -> Rows:
    """A column of ones, the other columns with mean 0 and deviation 1, and the outcome as y; in the file's order."""
    frame = getattr(sm.datasets, name).load_pandas().data
    inputs = frame.drop(columns=[outcome, *drop]).to_numpy(dtype=np.float64)
    inputs = (inputs - inputs.mean(axis=0)) / inputs.std(axis=0)
    return as_float32(x=np.column_stack([np.ones(len(inputs)), inputs]), y=frame[outcome].to_numpy(dtype=np.float64))


def visits() -> Rows:
    """Visits to the doctor, 20,190 rows."""
    return load("randhie", "mdvis")


def votes() -> Rows:
    """Votes of 944 people."""
    return load("anes96", "vote", ("popul",))


def affairs() -> Rows:
    """Whether 6366 people had an affair: the file has all who had first."""
    rows = load("fair", "affairs")
    return rows | {"y": (rows["y"] > 0).astype(np.float32)}


def grades() -> Rows:
    """Whether 32 students got a good grade."""
    return load("spector", "GRADE")


def losses() -> Rows:
    """Loss of ammonia in 21 runs of a plant."""
    return load("stackloss", "STACKLOSS")
