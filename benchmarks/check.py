"""Has the default become slower? A short run against the committed baseline.

    python -m benchmarks.check            # fails on a slowdown of more than 30 % relative to the yardstick
    python -m benchmarks.check --renew    # this run becomes the baseline

Processor time on one core as a multiple of a pass of likelihoods and one of gradients in the same run, so that neither
the machine nor what else runs on it matters much; the fastest of some repeats, the first of which compiles.
"""

import os

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import json
import sys
import time
from pathlib import Path

import sgais
from benchmarks import startup
from benchmarks.problems import PROBLEMS
from benchmarks.slowdown import slower
from benchmarks.yardstick import passes

BASELINE = Path(__file__).parent / "results" / "check-baseline.json"
ROWS = {"linear": 100_000, "logistic": 5000, "mixture": 1000}
REPEATS = 2


def multiple(problem: str) -> float:
    """The default's time in passes over the same rows."""
    model, simulate, _ = PROBLEMS[problem]
    data = simulate(ROWS[problem]).data
    config = sgais.Config()
    sgais.estimate(model, data, config=config)  # compiles
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        sgais.estimate(model, data, config=config)
        times.append(time.process_time() - start)
    return min(times) / passes(model, data, config.num_particles, REPEATS, time.process_time).both


def measure() -> dict[str, float]:
    """Everything that is compared, as ratios."""
    return {problem: multiple(problem) for problem in ROWS} | startup.measure(REPEATS).ratios()


def main(renew: bool) -> int:
    """Measure, compare, say so."""
    if not renew and not BASELINE.exists():
        print(f"There is no {BASELINE.name} yet: make bench-check RENEW=1")
        return 1
    measured = measure()
    if renew:
        BASELINE.write_text(json.dumps(measured, indent=1) + "\n")
    baseline = json.loads(BASELINE.read_text())
    found = slower(baseline, measured)
    for name, ratio in measured.items():
        before = baseline.get(name, float("nan"))
        print(f"{name}: {ratio:.2f} yardsticks, {before:.2f} before{', TOO SLOW' if name in found else ''}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main("--renew" in sys.argv[1:]))
