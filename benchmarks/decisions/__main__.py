"""How often is a true null rejected, and how soon a false one? `make bench-decisions` writes results/decisions.md.

2,000 streams of 10,000 rows for each null, watched after every 50 rows: by the e-process, and by the plain Bayes factor
of the same two models. Each null is tried with an intercept that its prior expects, and with one that is five prior
standard deviations off. Then the same streams with an effect.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import chi2, ncx2

from benchmarks.decisions.cells import (
    ALTERNATIVE,
    FAMILIES,
    NULL,
    Family,
    Sums,
    chunk_of,
    draw_cells,
    largest_log_likelihood,
    log_evidence,
)

RESULT = Path(__file__).parent.parent / "results" / "decisions.md"
STREAMS, ROWS, CHUNK, LEVEL = 2000, 10_000, 50, 0.05
THRESHOLD = -np.log(LEVEL)
TRUTH = np.array([0.0, 0.5, 0.0])
OFF = 5.0  # prior standard deviations
EFFECTS = (0.2, 0.4, 0.8)
ROLLED_OUT, HALVES = 0.9, 0.5  # shares of the rows with arm 1
POWER = 0.9
MANY = 4_000_000  # rows, by which the information in one is known


class Watched(NamedTuple):
    """Of each stream, the rows at which a rule first rejected; infinite if it never did."""

    e_process: np.ndarray
    bayes_factor: np.ndarray


def watch(family: Family, effect: float, prior_mean: float, arm_share: float, seed: int) -> Watched:
    """Look at many streams after every chunk."""
    generator, streams = np.random.default_rng(seed), STREAMS
    truth = TRUTH + np.array([0.0, 0.0, effect])
    sums = Sums(*(np.zeros((streams, 6)) for _ in range(3)))
    found = Watched(np.full(streams, np.inf), np.full(streams, np.inf))
    for rows in range(CHUNK, ROWS + 1, CHUNK):
        cells = draw_cells(arm_share, (streams, CHUNK), generator)
        sums = sums.plus(chunk_of(family, truth, cells, generator))
        alternative = log_evidence(family, sums, ALTERNATIVE, prior_mean)
        logs = (
            alternative - largest_log_likelihood(family, sums, NULL),
            alternative - log_evidence(family, sums, NULL, prior_mean),
        )
        for first, log in zip(found, logs, strict=True):
            first[(log >= THRESHOLD) & np.isinf(first)] = rows
    return found


def rows_of_fixed_test(family: Family, effect: float) -> int:
    """Rows that the likelihood ratio test of level 0.05 needs for a power of 0.9, all looked at once."""
    generator = np.random.default_rng(0)
    cells = draw_cells(HALVES, (1, MANY), generator)
    sums = chunk_of(family, TRUTH + np.array([0.0, 0.0, effect]), cells, generator)
    gain = largest_log_likelihood(family, sums, ALTERNATIVE) - largest_log_likelihood(family, sums, NULL)
    per_row = 2 * float(gain[0]) / MANY
    critical = chi2.ppf(1 - LEVEL, 1)
    rows = np.arange(10, 100_000, 10)
    return int(rows[np.argmax(ncx2.sf(critical, 1, rows * per_row) >= POWER)])


def rate(first: np.ndarray) -> str:
    share = float(np.isfinite(first).mean())
    return f"{share:.2%} ± {np.sqrt(share * (1 - share) / len(first)):.2%}"


def null_table() -> list[str]:
    lines = [
        "## True nulls",
        "",
        "The share of streams in which the null was ever rejected, with its standard error.",
        "",
        "| null | intercept | e-process | plain Bayes factor above 20 |",
        "|---|---|---|---|",
    ]
    for number, family in enumerate(FAMILIES):
        for where, prior_mean in (("as the prior expects", 0.0), ("five prior deviations off", OFF)):
            found = watch(family, 0.0, prior_mean, ROLLED_OUT, seed=100 + number)
            lines.append(f"| {family.name} | {where} | {rate(found.e_process)} | {rate(found.bayes_factor)} |")
            print(lines[-1], flush=True)
    return lines


def power_table() -> list[str]:
    lines = [
        "",
        "## False nulls",
        "",
        "An effect of the arm: the share of streams rejected within 10,000 rows, the mean rows until then (10,000 "
        "where the null stood), the rows of a fixed sample planned for just this effect (likelihood ratio test, level "
        f"{LEVEL}, power {POWER}), and the mean rows over those of a fixed sample for the smallest of the effects.",
        "",
        "| model | effect | rejected | mean rows | fixed sample, this effect | of the fixed sample, smallest effect |",
        "|---|---|---|---|---|---|",
    ]
    for number, family in enumerate(FAMILIES):
        planned = rows_of_fixed_test(family, EFFECTS[0])
        for effect in EFFECTS:
            found = watch(family, effect, 0.0, HALVES, seed=200 + number).e_process
            mean = float(np.minimum(found, ROWS).mean())
            fixed = rows_of_fixed_test(family, effect)
            lines.append(
                f"| {family.name} | {effect} | {np.isfinite(found).mean():.1%} | {mean:,.0f} | {fixed:,} "
                f"| {mean / planned:.0%} |"
            )
            print(lines[-1], flush=True)
    return lines


def main() -> None:
    lines = [
        "# E-processes: how often they reject",
        "",
        f"{STREAMS:,} streams of {ROWS:,} rows each, watched after every {CHUNK}, level {LEVEL}. Rows have a covariate "
        "in {-1, 0, 1} and an arm, 1 for nine rows of ten where the null is true and for half of them where it is "
        "not; the null knows intercept and covariate, the alternative the arm as well; standard Gaussian priors. "
        "Evidences by quadrature and maxima in float64, for all streams at once (`benchmarks/decisions/cells.py`); "
        "`tests/benchmarks/test_decision_study.py` holds `sgais.decisions.EProcess` against them. "
        "Printed by `make bench-decisions`.",
        "",
        *null_table(),
        *power_table(),
    ]
    RESULT.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
