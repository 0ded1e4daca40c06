"""What is read off an evidence curve: its newest point, its error, all of it as a table."""

from typing import TYPE_CHECKING

from sgais.results import rendered
from sgais.results.curve import Curve
from sgais.results.error_budget import error_budget, in_words
from sgais.results.record import EvidenceRecord

if TYPE_CHECKING:
    import pandas as pd


class CurveView:
    """Whatever has a curve, to read. Before the first chunk there are no rows, and log Z is 0 for certain."""

    _records: Curve

    @property
    def last_record(self) -> EvidenceRecord | None:
        """The newest point of the curve."""
        return self._records.last

    @property
    def num_rows(self) -> int:
        """Rows seen so far."""
        return self._records.last.num_rows if self._records.last else 0

    @property
    def log_evidence(self) -> float:
        """Log Z of all rows so far; 0 before the first."""
        return self._records.last.log_evidence if self._records.last else 0.0

    @property
    def standard_error(self) -> float:
        """The Monte Carlo error of `log_evidence`; NaN in paper mode, since Algorithm 1 gives none."""
        return self._records.last.standard_error if self._records.last else 0.0

    @property
    def error_budget(self) -> dict[str, float]:
        """The parts of the error of `log_evidence`, in nats: Monte Carlo, the kernel's bias, modes not seen."""
        return error_budget(self._records.last)

    @property
    def warning(self) -> str:
        """Why `log_evidence` should not be trusted; empty if nothing is known against it."""
        return self._records.last.warning if self._records.last else ""

    @property
    def records(self) -> tuple[EvidenceRecord, ...]:
        """The evidence curve so far, one record per chunk."""
        return tuple(self._records)

    def to_frame(self) -> "pd.DataFrame":
        """The records as a data frame, one row per chunk."""
        import pandas as pd  # slow to import

        return pd.DataFrame(self._records.columns())

    def __str__(self) -> str:
        beware = f" BEWARE: {self.warning}." if self.warning else ""
        return f"log Z = {self.log_evidence:.2f}{in_words(self.error_budget)}, {self.num_rows} rows.{beware}"

    def _repr_html_(self) -> str:
        return rendered.block(str(self))
