"""The evidence curve: one record per chunk."""

import math
from typing import NamedTuple


class EvidenceRecord(NamedTuple):
    """What is known after a chunk.

    Attributes:
        num_rows: Rows seen so far.
        log_evidence: log Z of all rows so far.
        increment: log Z of this chunk given the rows before it, and what an outright estimate set right meanwhile.
        standard_error: Of `log_evidence`, Monte Carlo. NaN in paper mode: Algorithm 1 gives none.
        kernel_bias: An estimate of the error of `log_evidence` from the moves' excess kinetic temperature; not
            subtracted.
        annealing_steps: As in `Info`, like the next eight.
        num_moves: Moves of the particles.
        final_ess: Of the last weighing.
        weight_ess: Of the weights carried on.
        kinetic_temperature: 1 is right.
        step_size: Of the moves on mini-batches.
        num_modes: Modes that carry a surrogate.
        num_non_finite: Particles that failed.
        correction: Nats by which log Z of the rows before was set right; not part of `increment`.
        num_bad_rows: Rows that the stream has refused so far; they are not part of `num_rows`.
        warning: Why `log_evidence` should not be trusted; empty if nothing is known against it.
        seconds: Wall time of this update, compilation included.
        mode_doubt: Nats by which modes that no search has found might change `log_evidence`, as in `Info`; not added.

    Example:
        >>> data = sgais.simulate.linear_regression(200, dim=2).data
        >>> evidence = sgais.OnlineEvidence(sgais.models.LinearRegression(dim=2))
        >>> record = evidence.update(data)
        >>> record.num_rows, record.warning, record.log_evidence == evidence.log_evidence
        (200, '', True)
    """

    num_rows: int
    log_evidence: float
    increment: float
    standard_error: float
    kernel_bias: float
    annealing_steps: int
    num_moves: int
    final_ess: float
    weight_ess: float
    kinetic_temperature: float
    step_size: float
    num_modes: int
    num_non_finite: int
    correction: float
    num_bad_rows: int
    warning: str
    seconds: float
    mode_doubt: float = 0.0  # last, with a default: records of before it are still read

    def __str__(self) -> str:
        error = "" if math.isnan(self.standard_error) else f" ± {self.standard_error:.2f}"
        beware = f" BEWARE: {self.warning}." if self.warning else ""
        return f"{self.num_rows} rows: log Z = {self.log_evidence:.2f}{error}.{beware}"

    def with_warning(self, text: str) -> "EvidenceRecord":
        """The same with another reason not to trust it, if there is one."""
        return self._replace(warning="; ".join(filter(None, (self.warning, text))))
