"""Prequential log scores of weighted models on real streams of river; writes results/combination.md.

A stream that is in results/combination.csv is not run again.

    python -m benchmarks.combination

Models are auto-regressions of a series with noise of different scales, on chunks of ten rows, so that scores by
chunk and by row are nearly the same; every score is by row, given what was known before the chunk. The oracle has
the best fixed weights in hindsight.
"""

from pathlib import Path
from typing import Any

import numpy as np
from river import datasets as river_datasets
from scipy.special import logsumexp

import sgais
from benchmarks import tables
from sgais.comparison.combination import ChunkScores, combination_of
from sgais.streams.lagged import lagged

datasets: Any = river_datasets  # its types are not complete
RESULTS = Path(__file__).parent.parent / "results"
RUNS = RESULTS / "combination.csv"
CHUNK, ORDER = 10, 2
SCALES = (0.1, 0.3, 1.0, 3.0)
COMBINATIONS = ("evidence", "forgetting", "stacking")
MOST_ROWS = 600


def series() -> dict[str, np.ndarray]:
    """Differences of logs where a series grows, standardised by its first tenth, as anybody could have done."""
    passengers = np.array([value for _, value in datasets.AirlinePassengers()], float)
    flow = np.array([value for _, value in datasets.WaterFlow()], float)
    approval = np.array([value for _, value in datasets.TrumpApproval()], float)
    stocks = np.array([value for _, value in datasets.SP500Stocks()], float)
    found = {
        "AirlinePassengers (log changes)": np.diff(np.log(passengers)),
        "WaterFlow": flow,
        "TrumpApproval (changes)": np.diff(approval),
        "SP500Stocks": stocks,
    }
    return {name: _standardised(values[:MOST_ROWS]) for name, values in found.items()}


def _standardised(values: np.ndarray) -> np.ndarray:
    first = values[: max(len(values) // 10, 20)]
    return (values - first.mean()) / first.std()


def simulated(is_true: bool, num_rows: int = 1000) -> np.ndarray:
    """Noise of one scale that a model has, or of two in turns of one row."""
    generator = np.random.default_rng(0)
    scales = 1.0 if is_true else np.where(generator.random(num_rows) < 0.5, 0.3, 3.0)
    noise, values = scales * generator.normal(size=num_rows), np.zeros(num_rows)
    for row in range(2, num_rows):
        values[row] = 0.5 * values[row - 1] - 0.2 * values[row - 2] + noise[row]
    return values


def row_scores(values: np.ndarray) -> tuple[list[dict[str, np.ndarray]], list[dict[str, float]]]:
    """Of every chunk: the log predictive of its rows under each model, and the evidence increments."""
    models = {f"noise {scale}": sgais.models.AutoRegression(ORDER, noise_scale=scale) for scale in SCALES}
    evidences = {name: sgais.OnlineEvidence(model) for name, model in models.items()}
    by_row, increments = [], []
    for chunk in sgais.stream(lagged(values.astype(np.float32), ORDER), CHUNK):
        by_row.append({name: one.row_log_predictives(chunk) for name, one in evidences.items()})
        increments.append({name: one.update(chunk).increment for name, one in evidences.items()})
    return by_row, increments


def score_of(combine: str, by_row: list[dict[str, np.ndarray]], increments: list[dict[str, float]]) -> float:
    """The log score of all rows under the mixture whose weights move as `Comparison(combine=...)` moves them."""
    combination, names = combination_of(combine, 0.0, 0), list(by_row[0])
    weights, totals, score = dict.fromkeys(names, 1 / len(names)), np.zeros(len(names)), 0.0
    for rows, chunk in zip(by_row, increments, strict=True):
        totals += np.array([chunk[name] for name in names])
        probabilities = dict(zip(names, np.exp(totals - logsumexp(totals)).tolist(), strict=True))
        scores = ChunkScores(len(rows[names[0]]), chunk, rows, dict.fromkeys(names, 0.0), probabilities)
        score += scores.of_mixture(weights)
        weights = combination.updated(weights, scores)
    return score


def oracle(by_row: list[dict[str, np.ndarray]]) -> float:
    """The log score of the best fixed weights, by expectation maximisation."""
    logs = np.array([np.concatenate([rows[name] for rows in by_row]) for name in by_row[0]])
    top = logs.max(axis=0)
    densities, weights = np.exp(logs - top), np.full(len(logs), 1 / len(logs))
    for _ in range(2000):
        mixed = weights @ densities
        weights = weights * (densities / mixed).mean(axis=1)
    return float((np.log(weights @ densities) + top).sum())


def main() -> None:
    names = [f"noise {scale}" for scale in SCALES]
    columns = ["stream", "rows", *COMBINATIONS, *names, "oracle"]
    streams = {"simulated, a model is true": simulated(True), "simulated, none is": simulated(False)} | series()
    lines = [
        "# Weights that predict best",
        "",
        f"Auto-regressions of order {ORDER} with noise of scale {', '.join(map(str, SCALES))} on simulated series and "
        f"on streams of river (their first {MOST_ROWS:,} rows), chunks of {CHUNK}. Log scores of all rows in nats, "
        "each row given what was known before its chunk; the oracle has the best fixed weights in hindsight. "
        "Printed by `make bench-combination`.",
        "",
        "| " + " | ".join(columns) + " |",
        "|" + "---|" * len(columns),
    ]
    for name, values in streams.items():
        if any(line["stream"] == name for line in tables.read(RUNS)):
            continue
        by_row, increments = row_scores(values)
        singles = [sum(float(rows[one].sum()) for rows in by_row) for one in by_row[0]]
        scores = [*(score_of(combine, by_row, increments) for combine in COMBINATIONS), *singles, oracle(by_row)]
        count = sum(len(rows[names[0]]) for rows in by_row)
        cells = [name, f"{count:,}", *(f"{score:,.1f}" for score in scores)]
        tables.append(RUNS, columns, [dict(zip(columns, cells, strict=True))])
        print(cells, flush=True)
    lines += ["| " + " | ".join(line.values()) + " |" for line in tables.read(RUNS)]
    (RESULTS / "combination.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
