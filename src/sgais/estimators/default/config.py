"""The parameters of the default estimator."""

import math
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sgais.errors import require, require_count
from sgais.estimators.annealing_config import PaperConfig
from sgais.estimators.default import policy
from sgais.kernels import HMC, Langevin


@dataclass(frozen=True)
class Config:
    """The parameters of the default estimator; none of them needs tuning to a model.

    Attributes:
        num_particles: M, once there are many rows.
        num_islands: Groups of particles whose spread gives the error bar.
        early_factor: How many times more particles there are while rows are very few; its square root while they are
            few.
        target_ess_fraction: Effective sample size, over the particles, at which they are resampled and moved.
        chunk_size: Rows per chunk when `sgais.estimate` cuts up a data set; None for a hundredth of the rows, but 500
            at least. `OnlineEvidence` takes chunks as they come, of any size.
        batch_size: Rows per mini-batch of the moves, at first; more are taken where gradients are too noisy.
        largest_dimension: Parameters up to which Hessians are kept. Beyond, gradients carry the past: noisier moves,
            and an error that grows with the rows, if slowly.
        kernel: Moves on mini-batches, once there are many rows.
        early_kernel: Moves on all rows, while there are few; they end when particles have forgotten where they began.

    Example:
        >>> sgais.Config().num_particles
        128
        >>> config = sgais.Config(num_particles=256)  # twice the work, errors smaller by a third
        >>> paper = sgais.Config.paper()  # Algorithm 1 as it was published
    """

    num_particles: int = 128
    num_islands: int = 8
    early_factor: int = 8
    target_ess_fraction: float = 0.5
    chunk_size: int | None = None
    batch_size: int = 256
    largest_dimension: int = 500
    kernel: Langevin = field(default_factory=Langevin)
    early_kernel: HMC = field(default_factory=partial(HMC, num_trajectories=12, largest_correlation=0.1))

    @staticmethod
    def paper(**changes: Any) -> PaperConfig:
        """Algorithm 1 with the published settings, nothing added; `changes` vary single ones."""
        return PaperConfig(**changes)

    def __post_init__(self) -> None:
        for name in ("num_particles", "early_factor", "largest_dimension"):
            require_count(name, getattr(self, name))
        if self.chunk_size is not None:
            require_count("chunk_size", self.chunk_size)
        require_count("num_islands", self.num_islands, smallest=2)
        require_count("batch_size", self.batch_size, smallest=2)
        divides = self.num_particles % self.num_islands == 0
        require(divides, "num_particles", f"be a multiple of num_islands = {self.num_islands}", self.num_particles)
        between = 0 < self.target_ess_fraction < 1
        require(between, "target_ess_fraction", "lie between 0 and 1", self.target_ess_fraction)
        cure = "For the published algorithm write sgais.Config.paper(kernel=...)."
        require(isinstance(self.kernel, Langevin), "kernel", "be a sgais.Langevin", self.kernel, cure)
        require(isinstance(self.early_kernel, HMC), "early_kernel", "be a sgais.HMC", self.early_kernel)

    def particles_per_island(self, rows: int) -> int:
        """Fewer as rows become more, in two steps: every number of particles has compiled programs of its own."""
        last = self.num_particles // self.num_islands
        if rows >= policy.MANY_ROWS:
            return last
        return last * (self.early_factor if rows < policy.FEW_ROWS else math.ceil(math.sqrt(self.early_factor)))
