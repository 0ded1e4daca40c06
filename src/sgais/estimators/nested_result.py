"""What nested sampling returns: a result, and when each of its points was born and died."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sgais.estimators.result import Result

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


def _columns(particles: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """One column per number: `bias`, `weights[0]`, `covariance[1,0]`."""
    columns = {}
    for name, values in particles.items():
        for index in np.ndindex(*values.shape[1:]):
            label = f"{name}[{','.join(map(str, index))}]" if index else name
            columns[label] = values[(slice(None), *index)].astype(np.float64)
    return columns
