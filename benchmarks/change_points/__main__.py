"""Annotated series, the paper's shift and the cost of a bank; writes results/change-points.md.

    python -m benchmarks.change_points

Every run is a line of results/change_points/*.csv; one that is there is not made again.
"""

import functools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist

import sgais
from benchmarks import tables
from benchmarks.change_points.detectors import DETECTORS
from benchmarks.change_points.scores import covering, f1
from benchmarks.change_points.series import annotated
from sgais.changepoints import recursion
from sgais.models.base import Parameters, Rows

RESULTS = Path(__file__).parent.parent / "results"
RUNS = RESULTS / "change_points"
SEEDS, SHIFT_CHUNK, SHIFT_HAZARD = 20, 500, 1e-5
BANK, COST_ROWS, COST_CHUNK = 100, 15_000, 50


def resumed(table: Path, columns: list[str], tasks: dict[str, Callable[[], dict[str, Any]]]) -> list[dict[str, str]]:
    """The lines of a table, those made first that are missing; tasks are by the text of the first column."""
    for name, task in tasks.items():
        if all(line[columns[0]] != name for line in tables.read(table)):
            tables.append(table, columns, [{columns[0]: name} | task()])
            print(table.stem, tables.read(table)[-1], flush=True)
    return tables.read(table)


def series_runs() -> list[dict[str, str]]:
    def run(series: Any, detect: Callable[[np.ndarray], list[int]]) -> dict[str, Any]:
        found = detect(series.values)
        return {
            "f1": f"{f1(series.annotations, found):.3f}",
            "covering": f"{covering(series.annotations, found, len(series.values)):.3f}",
            "changes": " ".join(map(str, found)),
        }

    tasks = {
        f"{series.name}, {name}": lambda series=series, detect=detect: run(series, detect)
        for series in annotated()
        for name, detect in DETECTORS.items()
    }
    return resumed(RUNS / "series.csv", ["run", "f1", "covering", "changes"], tasks)  # type: ignore[arg-type]


@functools.cache  # each model has compiled programs of its own, and JAX keeps them
def gaussian() -> sgais.Model:
    """One Gaussian in the plane, with unknown mean, scales and correlation."""

    def log_likelihood(parameters: Parameters, rows: Rows) -> jnp.ndarray:
        first, second = jnp.moveaxis((rows["y"] - parameters["mean"]) / parameters["scales"], -1, 0)
        rest = jnp.sqrt(1.0 - parameters["correlation"] ** 2)
        quadratic = first**2 + ((second - parameters["correlation"] * first) / rest) ** 2
        return -0.5 * quadratic - jnp.log(parameters["scales"]).sum() - jnp.log(rest) - jnp.log(2 * jnp.pi)

    prior = {
        "mean": dist.Normal(0.0, 10.0).expand([2]).to_event(1),
        "scales": dist.LogNormal(1.0, 1.0).expand([2]).to_event(1),
        "correlation": dist.Uniform(-1.0, 1.0),
    }
    return sgais.Model(prior, log_likelihood)


def shift_run(seed: int, is_shuffled: bool) -> dict[str, Any]:
    simulation = sgais.simulate.shifting_mixture(seed=seed)
    rows = simulation.data["y"]
    if is_shuffled:
        rows = np.random.default_rng(seed).permutation(rows)
    points = sgais.ChangePoints(gaussian(), hazard=SHIFT_HAZARD, seed=seed)
    points.run(sgais.stream({"y": rows}, SHIFT_CHUNK))
    near = [np.abs(points.borders - end) <= 2 * SHIFT_CHUNK for end in simulation.parameters["phase_ends"][:-1]]
    return {
        "first": f"{min(points.probability[near[0]].sum(), 1.0):.4f}",
        "second": f"{min(points.probability[near[1]].sum(), 1.0):.4f}",
        "elsewhere": f"{points.probability[~(near[0] | near[1])].max():.4f}",
        "largest": f"{points.probability.max():.4f}",
        "segments": len(points.segments),
    }


def shift_runs() -> list[dict[str, str]]:
    tasks = {
        f"{'shuffled' if is_shuffled else 'in order'} {seed}": lambda seed=seed, is_shuffled=is_shuffled: shift_run(
            seed, is_shuffled
        )
        for is_shuffled in (False, True)
        for seed in range(SEEDS)
    }
    columns = ["run", "first", "second", "elsewhere", "largest", "segments"]
    return resumed(RUNS / "shift.csv", columns, tasks)  # type: ignore[arg-type]


def processor_seconds(update: Callable[[Any], Any], chunks: list[Any]) -> float:
    start = time.process_time()
    for chunk in chunks:
        update(chunk)
    return time.process_time() - start


def cost() -> dict[str, Any]:
    """Milliseconds of the processor for a chunk, in the second of two runs, so that nothing is compiled."""
    data = sgais.simulate.linear_regression(COST_ROWS, dim=5).data
    chunks, model = list(sgais.stream(data, COST_CHUNK)), sgais.models.LinearRegression(dim=5)
    one, usual, full = (0.0, 0.0, 0.0)
    least = recursion.LEAST_POSTERIOR
    for _ in range(2):
        one = processor_seconds(sgais.OnlineEvidence(model).update, chunks)
        usual = processor_seconds(sgais.ChangePoints(model, bank=BANK).update, chunks)
        recursion.LEAST_POSTERIOR = 0.0  # no segment is let go before the bank is full
        points = sgais.ChangePoints(model, bank=BANK)
        full = processor_seconds(points.update, chunks)
        recursion.LEAST_POSTERIOR = least
        assert points.records[BANK].num_segments == points.records[-1].num_segments == BANK
    found = {"one model": one, "usual": usual, "full bank": full}
    return {name: f"{1000 * seconds / len(chunks):.1f}" for name, seconds in found.items()}


def cost_lines() -> list[str]:
    columns = ["run", "one model", "usual", "full bank"]
    (line,) = resumed(RUNS / "cost.csv", columns, {"linear regression": cost})
    meanings = {
        "one model": "one model",
        "usual": "change points, improbable segments let go",
        "full bank": f"change points, a bank that always holds {BANK}",
    }
    return [
        f"| {meaning} | {line[name]} | {float(line[name]) / float(line['one model']):.1f} |"
        for name, meaning in meanings.items()
    ]


def series_table(runs: list[dict[str, str]]) -> list[str]:
    by_run = {line["run"]: line for line in runs}
    lines = ["| | " + " | ".join(DETECTORS) + " |", "|---|" + "---|" * len(DETECTORS)]
    for series in annotated():
        found = [by_run[f"{series.name}, {name}"] for name in DETECTORS]
        cells = [f"{float(one['f1']):.2f}, {float(one['covering']):.2f}" for one in found]
        lines.append(f"| {series.name}, {len(series.values)} rows | " + " | ".join(cells) + " |")
    means = []
    for name in DETECTORS:
        some = [by_run[f"{series.name}, {name}"] for series in annotated()]
        means.append(", ".join(f"{np.mean([float(one[what]) for one in some]):.2f}" for what in ("f1", "covering")))
    lines.append("| mean | " + " | ".join(means) + " |")
    idle, *_, ours = DETECTORS
    won = [
        series.name
        for series in annotated()
        if float(by_run[f"{series.name}, {ours}"]["f1"]) < float(by_run[f"{series.name}, {idle}"]["f1"])
    ]
    return [
        *lines,
        "",
        f"Doing nothing has a better F1 than {ours} on {len(won)} of {len(annotated())}: {', '.join(won)}.",
    ]


def shift_lines(runs: list[dict[str, str]]) -> list[str]:
    ordered = [line for line in runs if line["run"].startswith("in order")]
    shuffled = [line for line in runs if line["run"].startswith("shuffled")]
    both = sum(float(line["first"]) >= 0.95 and float(line["second"]) >= 0.95 for line in ordered)
    alone = sum(float(line["elsewhere"]) <= 0.05 for line in ordered)
    quiet = sum(float(line["largest"]) <= 0.05 for line in shuffled)
    return [
        f"- In order: both changes within two chunks with probability at least 0.95 in {both} of {len(ordered)} runs; "
        f"no other change above 0.05 in {alone}.",
        f"- Shuffled: no change above 0.05 in {quiet} of {len(shuffled)} runs.",
    ]


def main() -> None:
    series, shift, costs = series_runs(), shift_runs(), cost_lines()
    lines = [
        "# Change points",
        "",
        "Printed by `make bench-change-points`.",
        "",
        "## Annotated series",
        "",
        "The series of the Turing Change Point Detection benchmark that river bundles with the rows that "
        "its annotators saw: F1 (margin of five rows) and covering against their annotations. Nothing is tuned.",
        "",
        *series_table(series),
        "",
        "## The paper's shift",
        "",
        f"Section 6.2: mixtures of 3, 5 and 7 Gaussians make 1,000, 9,000 and 90,000 rows. The model of a segment is "
        f"one Gaussian, so that no model is true; chunks of {SHIFT_CHUNK}, hazard {SHIFT_HAZARD:g}.",
        "",
        *shift_lines(shift),
        "",
        "## Cost",
        "",
        f"Linear regression with 5 features, {COST_ROWS:,} rows in chunks of {COST_CHUNK}: processor time on a "
        "busy machine with two cores, compiled before; the runs of a table follow each other. Without "
        "changes most segments are soon improbable and let go.",
        "",
        "| | milliseconds a chunk | times one model |",
        "|---|---|---|",
        *costs,
    ]
    (RESULTS / "change-points.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
