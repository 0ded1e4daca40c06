"""The bits of log Z: has a change of the code changed a number?

    python -m benchmarks.bits > before.txt
    python -m benchmarks.bits --against before.txt    # fails where a line differs

Each estimator on a few thousand rows of fixed seeds. Other processors, thread counts or versions of JAX may give other
bits, so compare only what one machine has printed.
"""

import sys
from pathlib import Path
from typing import Any

import sgais
from sgais import simulate
from sgais.models import GaussianMixture, LinearRegression, LogisticRegression

LINEAR = (LinearRegression(dim=3), simulate.linear_regression(6000, dim=3).data)
LOGISTIC = (LogisticRegression(dim=3, classes=3), simulate.logistic_regression(3000, dim=3, classes=3).data)
MIXTURE = (GaussianMixture(components=3, dim=2), simulate.gaussian_mixture(3000, components=3, dim=2).data)
PROBLEMS = {"linear": LINEAR, "logistic": LOGISTIC, "mixture": MIXTURE}
SEEDS = (0, 1)


def online(problem: str, config: Any, seed: int, history: Any = None) -> float:
    """Log Z of the whole stream, chunk by chunk."""
    model, data = PROBLEMS[problem]
    evidence = sgais.OnlineEvidence(model, config, seed, history)
    evidence.run(sgais.stream(data, 500))
    return evidence.log_evidence


def at_hand(problem: str, method: str, config: Any, seed: int, num_rows: int) -> float:
    """Log Z of a data set in one call."""
    model, data = PROBLEMS[problem]
    rows = {name: values[:num_rows] for name, values in data.items()}
    found = sgais.estimate(model, rows, method=method, config=config, seed=seed)
    assert isinstance(found, sgais.Result)
    return found.log_evidence


def measure() -> dict[str, float]:
    """Every log Z by name."""
    found: dict[str, float] = {}
    for seed in SEEDS:
        for problem in PROBLEMS:
            found[f"default {problem} {seed}"] = online(problem, sgais.Config(), seed)
            found[f"paper {problem} {seed}"] = online(problem, sgais.Config.paper(num_particles=10), seed)
        narrow = sgais.Config(largest_dimension=2)
        found[f"default wide {seed}"] = online("linear", narrow, seed)
        found[f"default reservoir {seed}"] = online("linear", sgais.Config(), seed, sgais.history.Reservoir(1000))
        ais = sgais.AISConfig(num_particles=32)
        for problem in ("linear", "mixture"):
            found[f"ais {problem} {seed}"] = at_hand(problem, "ais", ais, seed, 300)
            found[f"laplace {problem} {seed}"] = at_hand(problem, "laplace", None, seed, 1000)
        found[f"ais paper {seed}"] = at_hand("linear", "ais", sgais.AISConfig.paper(), seed, 100)
        found[f"nested {seed}"] = at_hand(
            "linear", "nested", sgais.NestedConfig(num_live=100, num_replaced=20), seed, 200
        )
        found[f"nested paper {seed}"] = at_hand("linear", "nested", sgais.NestedConfig.paper(), seed, 50)
    return found


def main(against: Path | None) -> int:
    """Print the table; tell what differs from another."""
    lines = [f"{name:24} {value:16.6f}  {value.hex()}" for name, value in measure().items()]
    print("\n".join(lines))
    if against is None:
        return 0
    before = against.read_text().splitlines()
    differ = [line for line in lines if line not in before]
    print(f"{len(differ)} of {len(lines)} differ." if differ else f"All {len(lines)} agree.")
    return 1 if differ or len(before) < len(lines) else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[2]) if sys.argv[1:2] == ["--against"] else None))
