"""What the error of a log evidence is made of, and how it is written."""

from collections.abc import Mapping

import numpy as np

from sgais.results.record import EvidenceRecord

MONTE_CARLO, KERNEL, MODES = "Monte Carlo", "kernel", "modes"


def error_budget(record: EvidenceRecord | None) -> dict[str, float]:
    """The parts of the error after a chunk, in nats: nothing is unknown before the first."""
    if record is None:
        return {MONTE_CARLO: 0.0, KERNEL: 0.0, MODES: 0.0}
    return {MONTE_CARLO: record.standard_error, KERNEL: abs(record.kernel_bias), MODES: abs(record.mode_doubt)}


def in_words(budget: Mapping[str, float]) -> str:
    """The parts of an error, each after its sign; a question mark for what is not known.

    Nothing is said of modes where nothing suggests that any are missing.
    """
    said = {name: value for name, value in budget.items() if name != MODES or value != 0.0}
    return "".join(f" ± {f'{value:.2f}' if np.isfinite(value) else '?'} {name}" for name, value in said.items())
