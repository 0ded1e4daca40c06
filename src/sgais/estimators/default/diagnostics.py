"""What happened while a chunk was taken in: counted as it happens, reported once at the end."""

from dataclasses import dataclass, field

import numpy as np


@dataclass
class UpdateDiagnostics:
    """Counts of one update.

    Attributes:
        num_weighings: Times that particles were weighed.
        num_moves: Times that particles were moved.
        num_non_finite: Particles that left the finite numbers.
        final_ess: Of the last weighing, over the number of particles.
        temperatures: Kinetic temperature of each stochastic-gradient move.
        kernel_bias: Error of log Z caused by the excess kinetic temperature of those moves, in nats.
        warnings: Reasons not to trust the result.
    """

    num_weighings: int = 0
    num_moves: int = 0
    num_non_finite: int = 0
    final_ess: float = 1.0
    temperatures: list[float] = field(default_factory=list)
    kernel_bias: float = 0.0
    warnings: list[str] = field(default_factory=list)

    @property
    def kinetic_temperature(self) -> float:
        """Mean over the moves, NaN if there were none with a temperature."""
        return float(np.mean(self.temperatures)) if self.temperatures else float("nan")

    def warn(self, warning: str) -> None:
        """Note a warning once."""
        if warning not in self.warnings:
            self.warnings.append(warning)
