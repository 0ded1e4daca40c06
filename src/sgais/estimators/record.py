"""The evidence curve: one record per chunk."""

from typing import NamedTuple


class EvidenceRecord(NamedTuple):
    """What is known after a chunk.

    Attributes:
        num_rows: Rows seen so far.
        log_evidence: log Z of all rows so far.
        increment: log Z of this chunk given the rows before it.
        standard_error: Of `log_evidence`. NaN: Algorithm 1 gives none.
        annealing_steps: Intermediate distributions that this chunk took.
        final_ess: Effective sample size of the chunk's last annealing step.
        weight_ess: Effective sample size of the weights carried to the next chunk. Without resampling it
            falls towards 1 as the stream goes on.
        kinetic_temperature: Mean over the chunk's moves; 1 is right, more means that the kernel runs hot.
        num_non_finite: Particles that left the finite numbers during this chunk's moves or weighing.
        seconds: Wall time of this update, compilation included.
    """

    num_rows: int
    log_evidence: float
    increment: float
    standard_error: float
    annealing_steps: int
    final_ess: float
    weight_ess: float
    kinetic_temperature: float
    num_non_finite: int
    seconds: float
