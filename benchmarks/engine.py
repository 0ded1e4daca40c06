"""The engine measured: accuracy of paper mode, cost against one `lax.scan`, cost of a late chunk.

Single-threaded; every ratio is taken within one run. Writes benchmarks/results/engine.md.
"""

import os

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import time
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import sgais

ROWS = 1_000_000
CHUNK = 500
SEEDS = range(5)
MODEL = sgais.models.LinearRegression(dim=5)
Pair = tuple[jax.Array, jax.Array]
RESULTS = Path(__file__).parent / "results" / "engine.md"


@partial(jax.jit, static_argnames="kernel")
def plain_scan(key: jax.Array, x: jax.Array, y: jax.Array, kernel: sgais.SGHMC) -> jax.Array:
    """The paper's algorithm for linear regression as one `lax.scan`: all data on the device, no annealing."""
    particles, chunks = 10, len(y) // CHUNK

    def log_likelihood(position: jax.Array, rows: Pair) -> jax.Array:
        inputs, targets = rows
        residual = targets - inputs @ position[:5] - position[5]
        return jnp.sum(-0.5 * residual**2 - 0.5 * jnp.log(2 * jnp.pi))

    def rows_at(start: jax.Array) -> Pair:
        return jax.lax.dynamic_slice_in_dim(x, start, CHUNK), jax.lax.dynamic_slice_in_dim(y, start, CHUNK)

    gradient = jax.vmap(jax.grad(log_likelihood), in_axes=(0, None))

    def take_chunk(carry: Pair, index: jax.Array) -> tuple[Pair, None]:
        positions, log_weights = carry
        past = index * CHUNK
        rows, step_size = rows_at(past), kernel.learning_rate / (past + CHUNK)
        log_weights += jax.vmap(log_likelihood, in_axes=(0, None))(positions, rows)
        chunk_key = jax.random.fold_in(key, index)
        velocities = jnp.sqrt(step_size) * jax.random.normal(chunk_key, positions.shape)

        def step(state: Pair, number: jax.Array) -> tuple[Pair, None]:
            at, velocity = state
            batch_key, noise_key = jax.random.split(jax.random.fold_in(chunk_key, number))
            at = at + velocity
            drawn = jax.random.randint(batch_key, (CHUNK,), 0, jnp.maximum(past, 1))
            force = gradient(at, rows) + past / CHUNK * gradient(at, (x[drawn], y[drawn])) - at
            noise = jnp.sqrt(2 * kernel.friction * step_size) * jax.random.normal(noise_key, at.shape)
            return (at, (1 - kernel.friction) * velocity + step_size * force + noise), None

        (positions, _), _ = jax.lax.scan(step, (positions, velocities), jnp.arange(kernel.num_steps))
        return (positions, log_weights), None

    start = (jax.random.normal(key, (particles, 6)), jnp.zeros(particles))
    (_, log_weights), _ = jax.lax.scan(take_chunk, start, jnp.arange(chunks))
    return jax.nn.logsumexp(log_weights) - jnp.log(particles)


def time_plain_scan(data: dict[str, np.ndarray]) -> float:
    arguments = (jax.random.key(0), jnp.asarray(data["x"]), jnp.asarray(data["y"]), sgais.SGHMC())
    plain_scan(*arguments).block_until_ready()  # compile
    start = time.perf_counter()
    plain_scan(*arguments).block_until_ready()
    return time.perf_counter() - start


def time_online(data: dict[str, np.ndarray], seed: int) -> tuple[float, float]:
    """Error of the last record in nats, and the seconds of the whole stream."""
    evidence = sgais.OnlineEvidence(MODEL, sgais.Config.paper(), seed=seed)
    start = time.perf_counter()
    for chunk in sgais.stream(data, CHUNK):
        evidence.update(chunk)
    seconds = time.perf_counter() - start
    exact = MODEL.log_evidence(data)
    return evidence.log_evidence - exact, seconds


def late_over_early(data: dict[str, np.ndarray]) -> tuple[float, float]:
    """Median milliseconds of a chunk after 1e4 and after 1e6 rows, taken in turns."""
    chunks = list(sgais.stream(data, CHUNK))
    early, late = (sgais.OnlineEvidence(MODEL, sgais.Config.paper()) for _ in range(2))
    for chunk in chunks[:20]:
        early.update(chunk)
    for chunk in chunks:
        late.update(chunk)
    pairs = [(early.update(chunk).seconds, late.update(chunk).seconds) for chunk in chunks[:200]]
    before, after = np.median(pairs, axis=0) * 1e3
    return float(before), float(after)


def main() -> None:
    warm_up = sgais.simulate.linear_regression(2 * CHUNK).data
    sgais.estimate(MODEL, warm_up, config=sgais.Config.paper())
    lines = [
        "# The engine in paper mode",
        "",
        f"Linear regression, 5 features, N = {ROWS:,}, chunks and mini-batches of {CHUNK}, `Config.paper()`, "
        f"{len(SEEDS)} seeds. One core, compilation not counted. Printed by `make bench-engine`.",
        "",
        "| seed | error (nats) | relative | seconds | plain `lax.scan`, seconds | ratio |",
        "|---|---|---|---|---|---|",
    ]
    for seed in SEEDS:
        data = sgais.simulate.linear_regression(ROWS, seed=seed).data
        exact = MODEL.log_evidence(data)
        scan_seconds = time_plain_scan(data)
        error, seconds = time_online(data, seed)
        lines.append(
            f"| {seed} | {error:.0f} | {error / exact:.3%} | {seconds:.2f} | {scan_seconds:.2f} "
            f"| {seconds / scan_seconds:.2f} |"
        )
        print(lines[-1], flush=True)
    before, after = late_over_early(data)
    lines += [
        "",
        f"A chunk costs {before:.2f} ms after 10,000 rows and {after:.2f} ms after 1,000,000 rows: "
        f"ratio {after / before:.2f}.",
    ]
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
