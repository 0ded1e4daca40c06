"""What does it cost to compare J models, beside J times one model?

    python benchmarks/comparison.py

A comparison of J models and the same J models each on its own, in turn, several times; a model of a comparison computes
what it computes alone, to the bit, so the ratio shows what the comparison adds (probabilities, records) and what it
saves (rows are read, checked and kept once). Single-threaded; processor time. Prints and writes results/comparison.md.
"""

import os

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import sgais

RESULTS = Path(__file__).parent / "results"
ALTERNATIONS = 11
COUNTS = (1, 2, 4)
CHUNK = 500


class Case(NamedTuple):
    """Models of one cost, and the rows that they are compared on."""

    name: str
    rows: int
    dim: int
    config: Any
    model: Callable[[int], Any]


def regression(number: int) -> Any:
    """Each leaves out another of nine features."""
    return sgais.models.LinearRegression(dim=9, features=[place for place in range(9) if place != number])


CASES = (
    Case("linear regression, the default", 100_000, 9, None, regression),
    Case("linear regression, paper mode", 20_000, 9, sgais.Config.paper(), regression),
)


def in_comparison(case: Case, models: dict[str, Any], path: Path) -> float:
    """Seconds of a comparison."""
    comparison = sgais.Comparison(models, case.config)
    return _seconds(lambda: comparison.run(_stream(case, path)))


def alone(case: Case, models: dict[str, Any], path: Path) -> float:
    """Seconds of the same models, one after the other."""
    seeds = sgais.Comparison(models, case.config)
    each = [sgais.OnlineEvidence(model, case.config, seeds[name].seed) for name, model in models.items()]
    return sum(_seconds(lambda one=one: one.run(_stream(case, path))) for one in each)  # type: ignore[misc]


def _stream(case: Case, path: Path) -> Any:
    return sgais.stream(path, CHUNK, x=[f"x{number}" for number in range(case.dim)], y="y")


def _seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def measure(case: Case) -> list[str]:
    """One line for each number of models."""
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        data = sgais.simulate.linear_regression(case.rows, dim=case.dim).data
        columns = {f"x{number}": data["x"][:, number] for number in range(case.dim)}
        pd.DataFrame(columns | {"y": data["y"]}).to_parquet(path)
        for count in COUNTS:
            models = {str(number): case.model(number) for number in range(count)}
            alone(case, models, path)  # compiles
            pairs = [(in_comparison(case, models, path), alone(case, models, path)) for _ in range(ALTERNATIONS)]
            ratio = float(np.median([together / apart for together, apart in pairs]))
            together, apart = (float(np.median(seconds)) for seconds in zip(*pairs, strict=True))
            lines.append(f"| {case.name}, {case.rows:,} rows | {count} | {together:.2f} | {apart:.2f} | {ratio:.3f} |")
            print(lines[-1], flush=True)
    return lines


def main() -> None:
    lines = [
        "# The cost of comparing models",
        "",
        f"Rows from a Parquet file in chunks of {CHUNK}; seconds of processor time on one core; medians of "
        f"{ALTERNATIONS} alternations. Asked: a ratio of at most 1.05.",
        "",
        "| models and rows | J | compared (s) | each alone, in all (s) | median ratio |",
        "|---|---|---|---|---|",
    ]
    for case in CASES:
        lines += measure(case)
    (RESULTS / "comparison.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
