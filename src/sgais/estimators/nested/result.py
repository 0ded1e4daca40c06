"""What nested sampling returns: a result, and when each of its points was born and died."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sgais.compute.positions import constrain
from sgais.estimators.nested import diagnostics
from sgais.estimators.nested.diagnostics import uniformity_p_value
from sgais.estimators.nested.integral import Integral, integrate, live_counts
from sgais.estimators.nested.points import Points, join
from sgais.estimators.nested.state import State
from sgais.models.base import Model
from sgais.results.result import COMPLETE, Result

ERRORS = ("volumes", "families")
SMALLEST_P_VALUE = 1e-3  # of the insertion-order test, below which the result is not trusted
LOG_RULED_OUT = -1e29  # anesthetic takes -1e30 and below for points that were never there


@dataclass(frozen=True)
class NestedResult(Result):
    """A `Result` whose particles are the dead points in the order of their death.

    Attributes:
        log_likelihoods: Of each particle, ascending; -inf for prior draws that the data rule out.
        birth_log_likelihoods: The contour above which each was drawn; -inf for draws from the prior.
    """

    log_likelihoods: np.ndarray = field(default_factory=lambda: np.empty(0))
    birth_log_likelihoods: np.ndarray = field(default_factory=lambda: np.empty(0))

    def to_anesthetic(self) -> Any:
        """The run as `anesthetic.NestedSamples`, for its plots and its own evidence. Needs `anesthetic`."""
        # Not among our dependencies, so only who asks for it needs it.
        from anesthetic import NestedSamples  # type: ignore[import-untyped]

        columns = _columns(self.particles)
        return NestedSamples(
            data=np.column_stack(list(columns.values())),
            columns=list(columns),
            logL=np.maximum(self.log_likelihoods, LOG_RULED_OUT),
            logL_birth=self.birth_log_likelihoods,
        )


def summary(model: Model, state: State, status: str, rows: int, seconds: float) -> NestedResult:
    """What a run has found. The live points die in their turn, the worst first."""
    points = join(*state.dead, state.live)
    integral = _integrate(points)
    budget = _error_budget(integral, points) if status == COMPLETE else dict.fromkeys(ERRORS, math.nan)
    records = state.records
    acceptances = [record.acceptance for record in records if not math.isnan(record.acceptance)]
    p_value = uniformity_p_value(np.concatenate([np.empty(0), *state.ranks]))
    return NestedResult(
        method="nested",
        log_evidence=integral.log_evidence,
        standard_error=math.hypot(*budget.values()),
        records=records,
        particles=constrain(model, points.positions),
        log_weights=integral.log_weights,
        num_rows=rows,
        seconds=seconds,
        error_budget=budget,
        diagnostics={
            "information": integral.information,
            "num_iterations": len(records),
            "insertion_p_value": p_value,
            "acceptance": float(np.mean(acceptances)) if acceptances else math.nan,
            "num_likelihood_evaluations": state.num_evaluations,
            "num_non_finite": sum(record.num_non_finite for record in records),
        },
        status=_judge(status, p_value),
        log_likelihoods=points.log_likelihoods,
        birth_log_likelihoods=points.births,
    )


def _judge(status: str, p_value: float) -> str:
    """What stopped the run or, if it is complete, whether its moves have explored what they should have."""
    if status != COMPLETE or not p_value < SMALLEST_P_VALUE:
        return status
    return (
        f"not to be trusted: new points do not fall where they should (p = {p_value:.1g}), the moves are too short. "
        "Raise Galilean(num_trajectories=...)"
    )


def _integrate(points: Points) -> Integral:
    if points.num_points == 0:  # interrupted before the first live points
        return Integral(math.nan, math.nan, math.nan, np.empty(0))
    return integrate(points.log_likelihoods, live_counts(points.log_likelihoods, points.births))


def _error_budget(integral: Integral, points: Points) -> dict[str, float]:
    """The unknown volumes, and what the families differ by more than these would have them differ."""
    of_families = diagnostics.standard_error(points.log_likelihoods, points.births, points.families)
    excess = of_families**2 - integral.standard_error**2
    return dict(zip(ERRORS, (integral.standard_error, math.sqrt(excess) if excess > 0 else 0.0), strict=True))


def _columns(particles: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """One column per number: `bias`, `weights[0]`, `covariance[1,0]`."""
    columns = {}
    for name, values in particles.items():
        for index in np.ndindex(*values.shape[1:]):
            label = f"{name}[{','.join(map(str, index))}]" if index else name
            columns[label] = values[(slice(None), *index)].astype(np.float64)
    return columns
