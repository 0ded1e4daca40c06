"""A chunk that has been weighed: what an estimator made of it, as a point of the evidence curve."""

from typing import Any, NamedTuple

import numpy as np

from sgais.fields import Chunk, Fields
from sgais.models.base import Model
from sgais.models.reading import Reader
from sgais.results.joined import Joined
from sgais.results.left_out import LeftOut
from sgais.results.record import EvidenceRecord


class Step(NamedTuple):
    """A chunk that has been weighed and waits to be accepted.

    `expected` is the log predictive that the chunk should have had (see `OnlineEvidence.expected`), where a detector
    wants to know.
    """

    model: Model
    reader: Reader | None
    fields: Fields
    rows: Chunk
    state: Any
    record: EvidenceRecord
    expected: tuple[float, float] | None
    left_out: LeftOut


def record_of(
    state: Any,
    info: Any,
    log_evidence_before: float,
    left_out: LeftOut,
    joined: Joined,
    num_bad_rows: int,
    seconds: float,
) -> EvidenceRecord:
    """The point of the curve behind a chunk.

    Args:
        state: Of the estimator, behind the chunk.
        info: What its update has told.
        log_evidence_before: Of the rows before it.
        left_out: Outliers so far, those of the chunk included.
        joined: Where the model has come from.
        num_bad_rows: Rows that were refused so far, outliers included.
        seconds: That the update took.
    """
    estimate = state.estimate
    log_evidence = estimate.log_evidence + left_out.log_predictive + joined.log_evidence
    error = float(np.hypot(np.hypot(estimate.standard_error, left_out.standard_error), joined.standard_error))
    doubts = [state.warning, left_out.warning, joined.warning]
    if error == 0.0:  # with data no error is: where arithmetic says so, nobody knows
        error = float("nan")
        doubts.append("the error could not be estimated")
    return EvidenceRecord(
        num_rows=state.num_rows + joined.first_row,
        log_evidence=log_evidence,
        increment=log_evidence - log_evidence_before - info.correction,
        standard_error=error,
        kernel_bias=state.kernel_bias,
        **info._asdict(),
        num_bad_rows=num_bad_rows,
        warning="; ".join(filter(None, doubts)),
        seconds=seconds,
    )


def with_joined(record: EvidenceRecord, joined: Joined) -> EvidenceRecord:
    """The last point of the rows that a model has learnt from, once it is known what they count."""
    return record._replace(
        log_evidence=record.log_evidence + joined.log_evidence,
        increment=0.0,
        standard_error=float(np.hypot(record.standard_error, joined.standard_error)),
        warning="; ".join(filter(None, [record.warning, joined.warning])),
    )
