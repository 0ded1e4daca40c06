"""How the models stand after a chunk, as numbers for the page: the same for a service, a local run and a saved one."""

from typing import NamedTuple

import numpy as np

from sgais.comparison.comparison import Comparison
from sgais.comparison.records import ComparisonRecord
from sgais.online import OnlineEvidence
from sgais.results.record import EvidenceRecord


class ModelStanding(NamedTuple):
    """One model; NaN where a number is not known.

    Attributes:
        log_evidence: log Z of all rows so far.
        standard_error: Of it, Monte Carlo.
        kernel_bias: The error of it that comes from excess kinetic temperature of the moves, as estimated.
        probability: Of the model, given all rows.
        low: The lower end of the band around the probability.
        high: The upper end.
        annealing_steps: Of the chunk.
        mode_doubt: Nats by which modes that no search has found might change log Z.
        is_warned: 1 where a warning says that log Z should not be trusted, else 0.
    """

    log_evidence: float
    standard_error: float
    kernel_bias: float
    probability: float
    low: float
    high: float
    annealing_steps: float
    mode_doubt: float
    is_warned: float


UNKNOWN = ModelStanding(*[float("nan")] * len(ModelStanding._fields))


class Remarks(NamedTuple):
    """What there is to say of a model in words."""

    warning: str = ""
    failure: str = ""


def standings_of(follower: Comparison | OnlineEvidence, name: str) -> dict[str, ModelStanding]:
    """Of all models; `name` is that of the only one where nothing is compared."""
    if isinstance(follower, OnlineEvidence):
        return {name: alone(follower.last_record)}
    found = follower.last_record
    if found is None:
        return dict.fromkeys(follower.names, UNKNOWN)
    biases = {one: _bias(follower[one].last_record) for one in follower.names}
    return {one: compared(found, one, biases[one]) for one in follower.names}


def remarks_of(follower: Comparison | OnlineEvidence, name: str) -> dict[str, Remarks]:
    """Of all models."""
    if isinstance(follower, OnlineEvidence):
        return {name: Remarks(follower.warning)}
    failures = follower.failures
    return {one: Remarks(follower[one].warning, failures.get(one, "")) for one in follower.names}


def alone(record: EvidenceRecord | None) -> ModelStanding:
    """A model that is not compared is certain."""
    if record is None:
        return UNKNOWN
    return ModelStanding(
        record.log_evidence,
        record.standard_error,
        record.kernel_bias,
        1.0,
        1.0,
        1.0,
        record.annealing_steps,
        abs(record.mode_doubt),
        float(bool(record.warning)),
    )


def compared(record: ComparisonRecord, name: str, kernel_bias: float = np.nan) -> ModelStanding:
    """One of several; nothing is known of a model that has failed."""
    if name not in record.models:
        return UNKNOWN
    one = record.models[name]
    return ModelStanding(
        one.log_evidence,
        one.standard_error,
        kernel_bias,
        one.probability,
        one.low,
        one.high,
        one.annealing_steps,
        abs(one.mode_doubt),
        float(bool(one.warning)),
    )


def _bias(record: EvidenceRecord | None) -> float:
    return np.nan if record is None else abs(record.kernel_bias)
