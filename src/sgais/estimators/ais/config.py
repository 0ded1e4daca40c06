"""The parameters of annealed importance sampling."""

from dataclasses import dataclass, field
from typing import Any

from sgais.errors import require
from sgais.estimators.annealing_config import AnnealingConfig
from sgais.kernels import HMC, SGHMC

LONG_MOVES = HMC(num_trajectories=30, largest_correlation=0.1)  # as long as it takes to forget the last temperature


@dataclass(frozen=True)
class AISConfig(AnnealingConfig):
    """The parameters of annealed importance sampling.

    Attributes:
        num_particles: As in `AnnealingConfig`, like the next three.
        target_ess_fraction: Target ESS over the number of particles.
        schedule: Fixed inverse temperatures instead.
        resampling: None, or a scheme.
        kernel: `HMC` (with a Metropolis test) or `SGHMC` (the paper's, with full gradients).
        max_seconds: The run stops when it has taken longer, with a result that says so.
        from_reference: Whether particles are annealed once more, from a density fitted to those that came from the
            prior. Not with a fixed schedule, with `SGHMC`, or with fewer than four particles per parameter.

    Example:
        >>> sgais.AISConfig(num_particles=64).num_particles
        64
        >>> paper = sgais.AISConfig.paper()
    """

    num_particles: int = 256
    target_ess_fraction: float = 0.8
    resampling: str | None = "systematic"
    kernel: HMC | SGHMC = field(default_factory=lambda: LONG_MOVES)
    max_seconds: float = float("inf")
    from_reference: bool = True

    @classmethod
    def paper(cls, **changes: Any) -> "AISConfig":
        """As in the paper's experiments: the settings of SGAIS, with the whole data set in every step."""
        published = {
            "num_particles": 10,
            "target_ess_fraction": 0.5,
            "resampling": None,
            "kernel": SGHMC(),
            "from_reference": False,
        }
        return cls(**(published | changes))

    def __post_init__(self) -> None:
        super().__post_init__()
        require(isinstance(self.kernel, HMC | SGHMC), "kernel", "be a sgais.HMC or sgais.SGHMC", self.kernel)
        require(self.max_seconds > 0, "max_seconds", "be positive", self.max_seconds)
