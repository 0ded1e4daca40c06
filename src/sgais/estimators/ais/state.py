"""Particles on their way from the prior to the posterior, and where a way has led."""

from typing import NamedTuple

import jax
import numpy as np

from sgais.estimators.ais.mixing import Families, Lag
from sgais.results.result import COMPLETE
from sgais.smc import annealing


class AISRecord(NamedTuple):
    """One intermediate distribution.

    Attributes:
        inverse_temperature: lambda.
        log_evidence: log of the normalising constant at lambda; the evidence only where lambda is 1.
        ess: Effective sample size of the step's incremental weights.
        acceptance: Of the moves, for `HMC`; NaN for `SGHMC`.
        kinetic_temperature: Of the moves, for `SGHMC`; NaN for `HMC`.
        num_non_finite: Particles that left the finite numbers.
        seconds: Wall time since the start.
    """

    inverse_temperature: float
    log_evidence: float
    ess: float
    acceptance: float
    kinetic_temperature: float
    num_non_finite: int
    seconds: float


class State(NamedTuple):
    """Particles on their way to the posterior."""

    positions: jax.Array | np.ndarray  # (particles, d)
    log_weights: np.ndarray  # (particles,), float64
    inverse_temperature: float
    families: Families
    lag: Lag  # of the moves so far
    log_ratios: np.ndarray | None  # of these particles before the last move; None if there was none


class Outcome(NamedTuple):
    """Where a way has led."""

    state: State
    variance: float  # of log Z, as far as chance makes it
    records: tuple[AISRecord, ...]
    status: str  # COMPLETE, or why it ended before

    @property
    def log_evidence(self) -> float:
        """NaN for a way that was not gone to its end."""
        return annealing.log_mean_exp(self.state.log_weights) if self.status == COMPLETE else float("nan")

    @property
    def monte_carlo(self) -> float:
        """The standard error, as far as chance makes it."""
        return float(np.sqrt(max(self.variance, 0.0))) if self.status == COMPLETE else float("nan")

    @property
    def error(self) -> float:
        """All of it."""
        return float(np.hypot(self.monte_carlo, self.state.lag.beyond_chance))
