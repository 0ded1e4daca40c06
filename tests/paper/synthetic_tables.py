"""Tables as runs would make them if the paper were right in everything; tests then spoil them one by one."""

import numpy as np
import pandas as pd

from experiments.paper.settings import AIS, COMPONENTS, DEFAULT, NESTED, PAPER, PROBLEMS, REFERENCE, VARIED

SIZES = (1000, 10_000, 100_000, 1_000_000)
ROWS = np.unique(np.round(np.geomspace(500, 1_000_000, 60) / 500).astype(int) * 500)
ALL_ROWS = np.union1d(ROWS, SIZES)


def accuracy_and_speed(
    relative_error=0.001, seconds_per_row=2e-5, nested_factor=200.0, ais_factor=1000.0, nested_ending="complete"
):
    """Log Z is -1.4 N; SGAIS is off by a share of it, nested sampling and AIS take so many times longer."""
    lines = []
    for problem in PROBLEMS:
        for seed in range(3):
            for rows in ALL_ROWS:
                lines.append(
                    _line(problem, PAPER, seed, rows, -1.4 * rows * (1 + relative_error), seconds_per_row * rows)
                    | {"chunks": 1, "annealing_steps": 2.0, "moves": 2.0, "weight_ess": 1.1}
                )
                lines.append(
                    _line(problem, DEFAULT, seed, rows, -1.4 * rows + 0.1, 1.0 + seconds_per_row * rows / 2)
                    | {"chunks": 1, "annealing_steps": 0.5, "moves": 0.1, "weight_ess": 100.0}
                )
        for rows in SIZES:
            lines.append(_line(problem, REFERENCE, 0, rows, -1.4 * rows, 0.0))
            lines.append(
                _line(problem, NESTED, 0, rows, -1.4 * rows * 1.0005, nested_factor * seconds_per_row * rows)
                | {"ending": nested_ending}
            )
            lines.append(_line(problem, AIS, 0, rows, -1.4 * rows * 1.001, ais_factor * seconds_per_row * rows))
    return pd.DataFrame(lines)


def _line(problem, method, seed, rows, log_evidence, seconds):
    return {
        "problem": problem,
        "method": method,
        "seed": seed,
        "rows": int(rows),
        "log_evidence": log_evidence,
        "standard_error": 0.1,
        "seconds": seconds,
        "ending": "complete",
    }


def data_sets(errors=(0.001, 0.004, 0.002)):
    """Log Z is -3 N; on each data set three runs, whose errors are in the ratio of 1 to 2 to 30."""
    lines = []
    for data_set, error in enumerate(errors):
        known = {"data_set": data_set, "rows": 100_000}
        lines.append(known | {"method": REFERENCE, "seed": 0, "log_evidence": -3e5})
        for seed, factor in enumerate((0.5, 1.0, 15.0)):
            lines.append(known | {"method": PAPER, "seed": seed, "log_evidence": -3e5 * (1 + factor * error)})
    return pd.DataFrame(lines)


def shift(method=PAPER):
    """Rows that a model predicts badly when they are new, and for good if it has too few components."""
    per_row = {3: (-3.0, -4.5, -5.0), 5: (-3.1, -4.0, -4.6), 7: (-3.2, -4.05, -4.55)}
    lines = []
    for components in COMPONENTS:
        for order in ("in order", "shuffled"):
            total = 0.0
            for rows in range(500, 100_001, 500):
                phase = 0 if rows <= 1000 else 1 if rows <= 10_000 else 2
                is_new = order == "in order" and rows in (1500, 10_500)
                too_many = order == "in order" and phase > 0 and components == 3
                ordered = per_row[components][phase] - 2.0 * is_new
                total += 500 * (ordered if order == "in order" else _mixed(per_row[components]))
                lines.append(
                    {
                        "method": method,
                        "components": components,
                        "order": order,
                        "seed": 0,
                        "rows": rows,
                        "log_evidence": total,
                        "standard_error": np.nan,
                        "chunks": 1,
                        "annealing_steps": 20.0 if is_new else 3.0 if too_many else 1.0,
                        "most_annealing_steps": 20 if is_new else 3 if too_many else 1,
                    }
                )
    return pd.DataFrame(lines)


def _mixed(phases):
    return 0.01 * phases[0] + 0.09 * phases[1] + 0.9 * phases[2]


# How error, seconds and annealing steps go with each parameter, from its least value to its largest: powers of 2.
DIRECTIONS = {
    "target_ess_fraction": (0, 0, 1),
    "learning_rate": (-1, -1, -1),
    "learning_rate_with_steps": (1, -1, 1),
    "num_particles": (-1, 1, 0),
    "num_steps": (-1, 1, -1),
    "batch_size": (-1, 0, 1),
}


def sensitivity(directions=DIRECTIONS, late_share=0.0):
    """Log Z is -3 N; additional annealing steps come in the first tenth, but for a share."""
    lines = []
    for parameter, values in VARIED.items():
        error, time, steps = directions[parameter]
        for number, value in enumerate(values):
            chunk = int(value) if parameter == "batch_size" else 500
            for seed in range(2):
                before = 0
                for rows in ROWS[ROWS >= 2000]:
                    extra = 2.0 ** (steps * number) - 1.0 if steps >= 0 else 2.0 ** (len(values) - number) - 1.0
                    lines.append(
                        {
                            "parameter": parameter,
                            "value": value,
                            "seed": seed,
                            "rows": int(rows),
                            "log_evidence": -3.0 * rows * (1 + 0.0002 * 2.0 ** (error * number)),
                            "seconds": 1e-5 * rows * 2.0 ** (time * number),
                            "chunks": (rows - before) // chunk,
                            "annealing_steps": 1.0 + extra * (1.0 if rows <= 100_000 else late_share),
                        }
                    )
                    before = rows
    reference = {"parameter": REFERENCE, "value": 0.0, "seed": 0, "rows": 1_000_000, "log_evidence": -3.0e6}
    return pd.DataFrame([*lines, reference])


def appendix_a(distance=0.0):
    """Two methods of the same spread, so many nats apart."""
    lines = []
    for kind in ("published", "default"):
        for size in range(20, 1001, 20):
            for number, method in enumerate(("nested", "ais")):
                for seed in range(5):
                    lines.append(
                        {
                            "settings": kind,
                            "size": size,
                            "method": method,
                            "seed": size + 5 * number + seed,
                            "log_evidence": -1.4 * size + distance * number + 0.5 * (seed - 2),
                            "standard_error": 0.7,
                            "seconds": 0.1,
                            "status": "complete",
                        }
                    )
    return pd.DataFrame(lines)
