"""What does it cost to write a likelihood one way or another? Softmax regression, five times the same function.

    python -m benchmarks.layout            # in float32 and in float64, a minute or two

One compiled pass of likelihoods and one of gradients over the rows, single-threaded. Writes results/layout.md.
"""

import os

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpyro.distributions as dist

import sgais
from benchmarks.yardstick import passes

ROWS, PARTICLES = 100_000, 100
DIM, CLASSES = 10, 4
READY = sgais.models.LogisticRegression(dim=DIM, classes=CLASSES)
BITS = {"float32": "0", "float64": "1"}
REPORT = Path(__file__).parent / "results" / "layout.md"

Values = Any  # parameters or rows, by name


def row_by_row(parameters: Values, rows: Values) -> jax.Array:
    """A function of one row, mapped over all of them."""

    def of_row(x: jax.Array, y: jax.Array) -> jax.Array:
        return jax.nn.log_softmax(parameters["weights"] @ x + parameters["bias"])[y]

    return jax.vmap(of_row)(rows["x"], rows["y"])


def numpyro_distribution(parameters: Values, rows: Values) -> jax.Array:
    """The log density of a distribution."""
    return dist.Categorical(logits=_rows_first(parameters, rows)).log_prob(rows["y"])


def rows_first(parameters: Values, rows: Values) -> jax.Array:
    """As textbooks have it."""
    logits = _rows_first(parameters, rows)
    return jnp.take_along_axis(jax.nn.log_softmax(logits), rows["y"][:, None], axis=1)[:, 0]


def classes_first(parameters: Values, rows: Values) -> jax.Array:
    """Rows last, so that a sum over few classes is a few operations on long vectors; a mask instead of a gather."""
    logits = parameters["weights"] @ rows["x"].T + parameters["bias"][:, None]
    is_chosen = rows["y"] == jnp.arange(CLASSES)[:, None]
    return jnp.sum(jnp.where(is_chosen, logits, 0.0), axis=0) - jax.nn.logsumexp(logits, axis=0)


def _rows_first(parameters: Values, rows: Values) -> jax.Array:
    return rows["x"] @ parameters["weights"].T + parameters["bias"]


WAYS = {
    "`jax.vmap` over a function of one row": row_by_row,
    "rows first: `numpyro.distributions.Categorical`": numpyro_distribution,
    "rows first: `log_softmax`, `take_along_axis`": rows_first,
    "classes first: `logsumexp(axis=0)`, a mask": classes_first,
}


def measure_here() -> list[float]:
    """Seconds of both passes for each way, and for the ready-made model."""
    data = sgais.simulate.logistic_regression(ROWS, dim=DIM, classes=CLASSES).data
    prior = {
        "weights": dist.Normal(0.0, 1.0).expand([CLASSES, DIM]).to_event(2),
        "bias": dist.Normal(0.0, 1.0).expand([CLASSES]).to_event(1),
    }
    models = [*(sgais.Model(prior=prior, log_likelihood=way) for way in WAYS.values()), READY]
    return [passes(model, data, PARTICLES).both for model in models]


def measure(bits: str) -> list[float]:
    """The same in a process of its own, since JAX decides on its numbers when it starts."""
    environment = os.environ | {"JAX_ENABLE_X64": BITS[bits]}
    command = [sys.executable, "-m", "benchmarks.layout", "here"]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout
    return [float(number) for number in output.split()]


def main() -> None:
    """Measure and report."""
    found = {bits: measure(bits) for bits in BITS}
    best = found["float32"][-1]
    lines = [
        "# The layout of a likelihood",
        "",
        f"Softmax regression, {DIM} features, {CLASSES} classes, {ROWS:,} rows: one compiled pass of {PARTICLES} "
        f"likelihoods and one of {PARTICLES} gradients, as multiples of the ready-made model's {best:.2f} s in "
        "float32. One core, the fastest of three. Printed by `make bench-layout`.",
        "",
        "| written as | float32 | float64 |",
        "|---|---|---|",
    ]
    for way, *seconds in zip([*WAYS, "`sgais.models.LogisticRegression`"], *found.values(), strict=True):
        lines.append(f"| {way} | {' | '.join(f'{each / best:.1f}' for each in seconds)} |")
    REPORT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(REPORT.read_text(encoding="utf-8"))


if __name__ == "__main__":
    if sys.argv[1:] == ["here"]:
        print(*measure_here())
    else:
        main()
