"""What log Z should be: exact where that is known, else a reference that is found once and kept in a table."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import sgais
from benchmarks.tables import append, read

REFERENCES = Path(__file__).parent / "results" / "references.csv"
COLUMNS = ("problem", "seed", "rows", "truth")
LARGEST_ERROR = 0.1  # nats, of a reference
MANY_ROWS = 500_000
FEW_ROWS = 10_000  # which AIS sees hundreds of times, with this many particles, in minutes
AIS_PARTICLES = 2000


def truth(
    model: Any,
    problem: str,
    seed: int,
    rows: int,
    data: dict[str, np.ndarray],
    parameters: dict[str, np.ndarray],
) -> float:
    """The log evidence of the first `rows` rows.

    Args:
        model: The model.
        problem: The name that its references have in the table.
        seed: Of the data.
        rows: How many of the data are seen.
        data: At least as many rows.
        parameters: Those that the data were drawn with.
    """
    head = {column: values[:rows] for column, values in data.items()}
    if hasattr(model, "log_evidence"):
        return float(model.log_evidence(head))
    known = {(line["problem"], line["seed"], line["rows"]): float(line["truth"]) for line in read(REFERENCES)}
    key = (problem, str(seed), str(rows))
    if key not in known:
        known[key] = reference(model, head, parameters)
        append(REFERENCES, COLUMNS, [{"problem": problem, "seed": seed, "rows": rows, "truth": known[key]}])
    return known[key]


def reference(model: Any, data: dict[str, np.ndarray], parameters: dict[str, np.ndarray]) -> float:
    """Good to 0.1 nat, or NaN: from Laplace with importance sampling, else from AIS where rows are few."""
    rows = len(next(iter(data.values())))
    attempts: list[Callable[[], sgais.Result]] = [lambda: _laplace(model, data, parameters)]
    if rows > MANY_ROWS:  # most often so near the Gaussian limit that few draws do
        attempts.insert(0, lambda: _laplace(model, data, parameters, num_starts=4, max_rounds=1, max_draws=2000))
    if rows <= FEW_ROWS:
        attempts.append(lambda: sgais.estimate(model, data, "ais", sgais.AISConfig(num_particles=AIS_PARTICLES)))
    for attempt in attempts:
        result = attempt()
        if result.is_complete and result.standard_error < LARGEST_ERROR:
            return float(result.log_evidence)
    return float("nan")


def _laplace(
    model: Any, data: dict[str, np.ndarray], parameters: dict[str, np.ndarray], **settings: int
) -> sgais.Result:
    """One of its starts are the parameters that the data were drawn with, so that it cannot miss the best mode."""
    config = sgais.LaplaceConfig(starts=(parameters,), **settings)
    return sgais.estimate(model, data, "laplace", config)
