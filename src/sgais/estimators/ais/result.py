"""Which of the ways to believe, and what speaks against it."""

import numpy as np

from sgais.compute.positions import constrain
from sgais.estimators.ais.config import AISConfig
from sgais.estimators.ais.state import Outcome
from sgais.kernels import SGHMC
from sgais.models.base import Model
from sgais.results.result import COMPLETE, Result
from sgais.smc.weights import normalised

LARGEST_LACK = 0.3  # nats that one way may find less than the other, beside errors
MONTE_CARLO, MIXING = "Monte Carlo", "mixing"


def result_of(
    model: Model, config: AISConfig, first: Outcome, second: Outcome | None, rows: int, seconds: float
) -> Result:
    """The result: of the ways that were gone to their end, the one with the smaller error."""
    best = first
    if second is not None and second.status == COMPLETE and (first.state.lag.is_certain or second.error < first.error):
        best = second
    return Result(
        method="ais",
        log_evidence=best.log_evidence,
        standard_error=best.monte_carlo if _is_sghmc(config) else best.error,
        records=first.records,
        particles=constrain(model, best.state.positions),
        log_weights=normalised(best.state.log_weights),
        num_rows=rows,
        seconds=seconds,
        error_budget=_budget(config, best),
        diagnostics={"temperatures": float(len(first.records)), "particles": float(config.num_particles)}
        | ({} if _is_sghmc(config) else _diagnostics(first, second)),
        status=first.status if _is_sghmc(config) else status_of(best, first, second),
    )


def _is_sghmc(config: AISConfig) -> bool:
    """Whether moves have no Metropolis test: they change the law of the particles, lag or none."""
    return isinstance(config.kernel, SGHMC)


def _budget(config: AISConfig, best: Outcome) -> dict[str, float]:
    chance = {MONTE_CARLO: best.monte_carlo}
    return chance if _is_sghmc(config) else chance | {MIXING: best.state.lag.beyond_chance}


def _diagnostics(first: Outcome, second: Outcome | None) -> dict[str, float]:
    """Both log evidences, for whoever would rather have the other."""
    found = {}
    for name, one in (("prior", first), ("reference", second)):
        if one is not None:
            found[f"log_evidence_from_{name}"] = one.log_evidence
            found[f"error_from_{name}"] = one.error
            found[f"lag_from_{name}"] = one.state.lag.nats
    return found


def status_of(best: Outcome, first: Outcome, second: Outcome | None) -> str:
    """What speaks against the number."""
    if first.status != COMPLETE:
        return first.status
    if second is not None and second.status != COMPLETE:
        return f"{second.status} of the second way: log Z is that of the way from the prior, and nothing has checked it"
    if best.state.lag.is_certain:
        return (
            f"not to be trusted: the moves lag behind the temperatures, which changes log Z by "
            f"{best.state.lag.nats:.1f} nats or more. Longer moves may help: kernel=HMC(num_trajectories=...)"
        )
    other = first if best is second else second
    if other is not None and _is_short(best, other):
        return (
            f"not to be trusted: another way, {'from the prior' if other is first else 'from a reference'}, gave "
            f"log Z = {other.log_evidence:.2f}, and the larger is more likely to be right"
        )
    return COMPLETE


def _is_short(best: Outcome, other: Outcome) -> bool:
    """Whether the other way found more than errors explain.

    Either estimate of Z is as good as unbiased, so that it is e times too large with a probability of 1 / e at most;
    too small it may be by any factor, with any. So nothing is said where the other way found less.
    """
    error = float(np.hypot(best.error, other.error))
    return other.log_evidence - best.log_evidence > LARGEST_LACK + 3 * error
