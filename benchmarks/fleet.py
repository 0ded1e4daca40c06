"""Fleets: the rate beside a loop over OnlineEvidence, errors against exact evidences, memory per key.

Writes results/fleet.md.

    python -m benchmarks.fleet [KEYS]

Each key has 100 rows of its own parameters, drawn from the prior. Linear evidences are exact in closed form; logistic
ones are held against the loop. The loop takes a few of the keys, chunk by chunk as the fleet does. Seconds are those
of the processor, since the machine may be shared, and without compilation: a first fleet has compiled.
"""

import os
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import sgais
from sgais.models import LinearRegression, LogisticRegression

RESULTS = Path(__file__).parent / "results" / "fleet.md"
ROWS, LOOPED, SEED = 100, 20, 0
CHUNKS = (1, 4)  # in which the rows come


class Case(NamedTuple):
    """A model, and rows of many keys in its order: keys, columns."""

    name: str
    model: Any
    columns: dict[str, np.ndarray]


class Measured(NamedTuple):
    """What a case gives."""

    seconds_per_key: float
    looped_per_key: float
    rms: float
    covered: float
    num_scores: int
    error: float
    bytes_per_key: float
    num_alone: int


def cases(num_keys: int) -> list[Case]:
    """Ten parameters each."""
    generator = np.random.default_rng(SEED)
    nine = generator.normal(size=(num_keys, ROWS, 9))
    noise = generator.normal(size=(num_keys, ROWS))
    weights, biases = generator.normal(size=(num_keys, 9)), generator.normal(size=(num_keys, 1))
    line = np.einsum("krf,kf->kr", nine, weights) + biases + noise
    four = generator.normal(size=(num_keys, ROWS, 4))
    logits = np.einsum("krf,kf->kr", four, generator.normal(size=(num_keys, 4)) - generator.normal(size=(num_keys, 4)))
    labels = (generator.random((num_keys, ROWS)) < 1 / (1 + np.exp(-logits))).astype(int)
    return [
        Case("linear regression", LinearRegression(dim=9), {"x": nine, "y": line}),
        Case("logistic regression", LogisticRegression(dim=4, classes=2), {"x": four, "y": labels}),
    ]


def run_fleet(case: Case, num_keys: int, num_chunks: int) -> tuple[sgais.Fleet, float]:
    """The fleet, and the seconds that it took."""
    fleet, per_chunk = sgais.Fleet({case.name: case.model}, key="key", seed=SEED), ROWS // num_chunks
    begun = time.process_time()
    for start in range(0, ROWS, per_chunk):
        part = {name: values[:num_keys, start : start + per_chunk] for name, values in case.columns.items()}
        chunk = {name: values.reshape(-1, *values.shape[2:]) for name, values in part.items()}
        fleet.update(chunk | {"key": np.repeat(np.arange(num_keys), per_chunk)})
    return fleet, time.process_time() - begun


def run_loop(case: Case, number: int, num_chunks: int) -> sgais.OnlineEvidence:
    """One key by itself."""
    evidence, per_chunk = sgais.OnlineEvidence(case.model, seed=number), ROWS // num_chunks
    for start in range(0, ROWS, per_chunk):
        evidence.update({name: values[number, start : start + per_chunk] for name, values in case.columns.items()})
    return evidence


def measure(case: Case, num_keys: int, num_chunks: int) -> Measured:
    """Both, on the same keys."""
    run_fleet(case, 16, num_chunks)
    run_loop(case, 0, num_chunks)
    fleet, seconds = run_fleet(case, num_keys, num_chunks)
    begun = time.process_time()
    looped = [run_loop(case, number, num_chunks) for number in range(LOOPED)]
    looped_seconds = time.process_time() - begun
    frame = fleet.to_frame()
    logs, errors = frame["log_evidence"].to_numpy(), frame["standard_error"].to_numpy()
    if isinstance(case.model, LinearRegression):
        exact = [case.model.log_evidence({n: v[k] for n, v in case.columns.items()}) for k in range(num_keys)]
        scores = (logs - np.array(exact)) / errors
    else:
        others = np.array([[one.log_evidence, one.standard_error] for one in looped])
        scores = (logs[:LOOPED] - others[:, 0]) / np.hypot(errors[:LOOPED], others[:, 1])
    return Measured(
        seconds / num_keys,
        looped_seconds / LOOPED,
        float(np.sqrt(np.mean(scores**2))),
        float(np.mean(np.abs(scores) < 1.96)),
        len(scores),
        float(np.median(errors)),
        fleet.num_bytes / num_keys,
        fleet.last_record.num_alone if fleet.last_record else 0,
    )


def main(num_keys: int) -> None:
    """Measure all and write the page."""
    lines = [
        "# Fleets",
        "",
        f"Written by `python -m benchmarks.fleet {num_keys}`: {num_keys:,} keys with {ROWS} rows and 10 parameters "
        f"each, seed {SEED}; the loop is `OnlineEvidence` on {LOOPED} of the keys, in the same chunks. Seconds of the "
        f"processor after compilation, on a machine with {os.cpu_count()} cores. Scores are log Z less the exact one "
        "over the claimed error (linear), or less that of the loop over both errors (logistic).",
        "",
        "| model | chunks | ms per key | loop, ms per key | times | RMS score | within 1.96 | keys scored | "
        "median error | bytes per key | keys alone |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for case in cases(num_keys):
        for num_chunks in CHUNKS:
            found = measure(case, num_keys, num_chunks)
            times = found.looped_per_key / found.seconds_per_key
            cells = [
                case.name,
                f"{num_chunks}",
                f"{1e3 * found.seconds_per_key:.2f}",
                f"{1e3 * found.looped_per_key:.0f}",
                f"{times:.0f}",
                f"{found.rms:.2f}",
                f"{found.covered:.1%}",
                f"{found.num_scores:,}",
                f"{found.error:.3f}",
                f"{found.bytes_per_key:,.0f}",
                f"{found.num_alone}",
            ]
            lines.append(f"| {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
