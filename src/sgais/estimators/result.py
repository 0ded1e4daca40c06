"""What every method of `sgais.estimate` returns."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from sgais.estimators.record import EvidenceRecord


@dataclass(frozen=True)
class Result:
    """An evidence and what stands behind it.

    Attributes:
        method: The method that gave it.
        log_evidence: log Z.
        standard_error: Of `log_evidence`; NaN where the method gives none.
        records: The evidence curve, one record per chunk.
        particles: Posterior draws by parameter name, constrained.
        log_weights: Normalised log weights of the particles.
        seconds: Wall time, compilation included.
    """

    method: str
    log_evidence: float
    standard_error: float
    records: tuple[EvidenceRecord, ...]
    particles: dict[str, np.ndarray]
    log_weights: np.ndarray
    seconds: float

    def to_frame(self) -> pd.DataFrame:
        """The records as a data frame, one row per chunk."""
        return pd.DataFrame(self.records, columns=list(EvidenceRecord._fields))

    def __str__(self) -> str:
        known = np.isfinite(self.standard_error)
        error = f"± {self.standard_error:.2f}" if known else "(no error estimate)"
        rows = self.records[-1].num_rows
        return f"log Z = {self.log_evidence:.2f} {error}, {rows} rows, {self.method}, {self.seconds:.1f} s"
