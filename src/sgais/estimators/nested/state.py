"""Where nested sampling is: live points, dead points, and the iterations that made them."""

import math
from typing import NamedTuple

import numpy as np

from sgais.estimators.nested.integral import log_sum_exp
from sgais.estimators.nested.points import Points
from sgais.models.base import Model, real_dtype


class NestedRecord(NamedTuple):
    """One iteration.

    Attributes:
        log_prior_volume: Of the contour after it.
        log_likelihood: The contour: that of the last point to die.
        log_evidence: What the dead points add up to so far.
        log_remaining: What the live points would add.
        num_dead: Points that died in it.
        acceptance: The part of the moves that were accepted.
        step_size: Of the moves, over the spread of the live points.
        num_non_finite: Points met by the moves at which the log-likelihood is NaN or +inf.
    """

    log_prior_volume: float
    log_likelihood: float
    log_evidence: float
    log_remaining: float
    num_dead: int
    acceptance: float
    step_size: float
    num_non_finite: int


class State(NamedTuple):
    """Everything that the next iteration needs to know, and what the result is made of."""

    live: Points
    dead: tuple[Points, ...]  # a batch per iteration
    ranks: tuple[np.ndarray, ...]
    records: tuple[NestedRecord, ...]
    log_prior_volume: float
    log_evidence: float
    step_size: float
    num_evaluations: int


def empty(model: Model) -> State:
    """Before the first draw from the prior."""
    nothing = Points(np.empty((0, model.dimension), real_dtype()), np.empty(0), np.empty(0), np.empty(0, int))
    return State(nothing, (), (), (), log_prior_volume=0.0, log_evidence=-math.inf, step_size=1.0, num_evaluations=0)


def bury(state: State, dying: Points, num_live: int) -> State:
    """Take the volume and the evidence of the worst of `num_live` points; the live ones are left as they are."""
    counts = num_live - np.arange(dying.num_points, dtype=float)
    log_volumes = state.log_prior_volume - np.concatenate([[0.0], np.cumsum(1 / counts)])
    log_masses = log_volumes[:-1] + np.log(-np.expm1(np.diff(log_volumes)))
    return state._replace(
        dead=(*state.dead, dying),
        log_prior_volume=float(log_volumes[-1]),
        log_evidence=float(np.logaddexp(state.log_evidence, log_sum_exp(log_masses + dying.log_likelihoods))),
    )
