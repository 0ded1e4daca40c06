"""What every method of `sgais.estimate` returns."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sgais.results import rendered
from sgais.results.arviz import inference_data
from sgais.results.error_budget import in_words
from sgais.smc.weights import select

if TYPE_CHECKING:
    import pandas as pd

COMPLETE = "complete"


@dataclass(frozen=True)
class Result:
    """An evidence and what stands behind it.

    Attributes:
        method: The method that gave it.
        log_evidence: log Z; NaN where a run that was stopped cannot tell.
        standard_error: Of `log_evidence`; NaN where the method gives none.
        records: The run step by step: chunks (SGAIS), temperatures (AIS), iterations (nested sampling).
        particles: Posterior draws by parameter name, constrained, leading axis particles.
        log_weights: Normalised log weights of the particles.
        num_rows: Rows of data.
        seconds: Wall time, compilation included.
        error_budget: The parts of the error by name, in nats.
        diagnostics: Numbers that tell how far to trust the result; which ones depends on the method.
        status: "complete", or why the run stopped before its end or is not to be trusted.

    Example:
        >>> data = sgais.simulate.linear_regression(200, dim=2).data
        >>> model = sgais.models.LinearRegression(dim=2)
        >>> result = sgais.estimate(model, data, method="laplace")
        >>> abs(result.log_evidence - model.log_evidence(data)) < 0.1
        True
        >>> result.is_complete, result.draws(10)["weights"].shape
        (True, (10, 2))
    """

    method: str
    log_evidence: float
    standard_error: float
    records: tuple[Any, ...]
    particles: dict[str, np.ndarray]
    log_weights: np.ndarray
    num_rows: int
    seconds: float
    error_budget: dict[str, float] = field(default_factory=dict)
    diagnostics: dict[str, float] = field(default_factory=dict)
    status: str = COMPLETE

    @property
    def is_complete(self) -> bool:
        """Whether the run came to its end and the method trusts its result."""
        return self.status == COMPLETE

    def draws(self, count: int | None = None, seed: int = 0) -> dict[str, np.ndarray]:
        """Posterior draws of equal weight (as many as there are particles, unless told otherwise)."""
        count = len(self.log_weights) if count is None else count
        chosen = select(self.log_weights, count, np.random.default_rng(seed).random())
        return {name: values[chosen] for name, values in self.particles.items()}

    def to_frame(self) -> "pd.DataFrame":
        """The records as a data frame, one row per record."""
        import pandas as pd  # slow to import

        return pd.DataFrame(self.records, columns=list(self.records[0]._fields) if self.records else None)

    def to_arviz(self) -> Any:
        """For ArviZ: equally weighted posterior draws, log Z and its error as attributes."""
        posterior = {name: values[None] for name, values in self.draws().items()}
        attributes = {
            "method": self.method,
            "log_evidence": self.log_evidence,
            "standard_error": self.standard_error,
            "status": self.status,
        }
        return inference_data(posterior, attributes)

    def __str__(self) -> str:
        error = in_words(self.error_budget or {"Monte Carlo": self.standard_error})
        stopped = "" if self.is_complete else f" BEWARE: {self.status}."
        return (
            f"log Z = {self.log_evidence:.2f}{error}, {self.num_rows} rows, {self.method}, "
            f"{self.seconds:.1f} s.{stopped}"
        )

    def _repr_html_(self) -> str:
        return rendered.block(str(self))
