"""What the error of a log evidence is made of, and how it is written."""

from collections.abc import Mapping

import numpy as np

from sgais.estimators.record import EvidenceRecord

MONTE_CARLO, KERNEL = "Monte Carlo", "kernel"


def error_budget(record: EvidenceRecord | None) -> dict[str, float]:
    """The parts of the error after a chunk, in nats: nothing is unknown before the first."""
    if record is None:
        return {MONTE_CARLO: 0.0, KERNEL: 0.0}
    return {MONTE_CARLO: record.standard_error, KERNEL: abs(record.kernel_bias)}


def in_words(budget: Mapping[str, float]) -> str:
    """The parts of an error, each after its sign; a question mark for what is not known."""
    parts = (f"{value:.2f}" if np.isfinite(value) else "?" for value in budget.values())
    return "".join(f" ± {part} {name}" for part, name in zip(parts, budget, strict=True))
