"""The settings that annealed methods share: particles, temperatures, resampling."""

from dataclasses import dataclass, field
from numbers import Real

import numpy as np

from sgais.errors import require, require_count
from sgais.kernels import SGHMC
from sgais.smc import annealing, resampling


@dataclass(frozen=True)
class AnnealingConfig:
    """How particles are annealed.

    Attributes:
        num_particles: M.
        target_ess_fraction: The target ESS of adaptive annealing, over the number of particles. At or below
            1 / num_particles everything is taken in one step, without annealing.
        schedule: Fixed inverse temperatures, ascending to 1, in place of adaptive ones; see
            `sgais.annealing.linear_schedule` and `sigmoidal_schedule`.
        resampling: None, or the scheme by which particles are resampled before every move:
            "systematic", "stratified", "residual" or "multinomial".
    """

    num_particles: int = 10
    target_ess_fraction: float = 0.5
    schedule: tuple[float, ...] | None = None
    resampling: str | None = None

    @property
    def target_ess(self) -> float:
        """The target ESS as a number of particles."""
        return self.target_ess_fraction * self.num_particles

    def __post_init__(self) -> None:
        require_count("num_particles", self.num_particles)
        require(
            0 < self.target_ess_fraction < 1,
            "target_ess_fraction",
            "lie between 0 and 1",
            self.target_ess_fraction,
            "Divide a target ESS by the number of particles.",
        )
        schemes = sorted(resampling.SCHEMES)
        known = self.resampling is None or self.resampling in schemes
        require(known, "resampling", f"be None or one of {schemes}", self.resampling)
        if self.schedule is not None:
            _check_schedule(self.schedule)

    def next_inverse_temperature(self, log_likelihoods: np.ndarray, inverse_temperature: float, step: int) -> float:
        """Lines 6-7 of Algorithm 1: lambda + Delta, never beyond 1."""
        if self.schedule is not None:
            return self.schedule[step]
        return annealing.next_inverse_temperature(log_likelihoods, inverse_temperature, self.target_ess_fraction)


def _check_schedule(schedule: tuple[float, ...]) -> None:
    are_numbers = isinstance(schedule, tuple) and all(isinstance(value, Real) for value in schedule)
    cure = "See sgais.annealing.linear_schedule and sigmoidal_schedule."
    require(are_numbers, "schedule", "be None or a tuple of numbers", schedule, cure)
    rises = bool(np.all(np.diff([0.0, *schedule]) > 0))
    require(rises and schedule[-1:] == (1.0,), "schedule", "rise from above 0 to exactly 1", schedule)


@dataclass(frozen=True)
class PaperConfig(AnnealingConfig):
    """The parameters of Algorithm 1; the defaults are the paper's. Written `sgais.Config.paper(...)`.

    Attributes:
        num_particles: As in `AnnealingConfig`, like the next three, which apply to every chunk.
        target_ess_fraction: Target ESS over the number of particles.
        schedule: Fixed inverse temperatures instead.
        resampling: None, or a scheme.
        batch_size: Rows per mini-batch of the past.
        chunk_size: Rows per chunk when `sgais.estimate` cuts up a data set. `OnlineEvidence` takes chunks as
            they come.
        kernel: The parameters of the moves.
    """

    batch_size: int = 500
    chunk_size: int = 500
    kernel: SGHMC = field(default_factory=SGHMC)

    def __post_init__(self) -> None:
        super().__post_init__()
        require_count("batch_size", self.batch_size)
        require_count("chunk_size", self.chunk_size)
        require(isinstance(self.kernel, SGHMC), "kernel", "be a sgais.SGHMC", self.kernel)
