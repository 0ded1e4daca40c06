"""`estimate`: the evidence of a data set at hand, in one call."""

import time

from sgais.errors import require
from sgais.estimators.result import Result
from sgais.estimators.sgais import Config
from sgais.online import Bindable, OnlineEvidence
from sgais.streams import stream

METHODS = ("sgais",)


def estimate(
    model: Bindable, data: object, method: str = "sgais", config: Config | None = None, seed: int = 0
) -> Result:
    """Estimate the log evidence of `data` under `model`.

    Args:
        model: As for `OnlineEvidence`.
        data: A dictionary of arrays with equal leading axis, or one array (which means `{"y": array}`).
        method: "sgais".
        config: The method's parameters; `config.chunk_size` rows are taken in at a time.
        seed: Determines every random number.
    """
    require(method in METHODS, "method", f"be one of {METHODS}", method)
    start = time.perf_counter()
    evidence = OnlineEvidence(model, config, seed)
    for chunk in stream(data, evidence.config.chunk_size):
        evidence.update(chunk)
    return Result(
        method=method,
        log_evidence=evidence.log_evidence,
        standard_error=evidence.standard_error,
        records=evidence.records,
        particles=evidence.particles,
        log_weights=evidence.log_weights,
        seconds=time.perf_counter() - start,
    )
