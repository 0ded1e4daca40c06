"""Linear regression with unknown noise scale, under priors from tight to very wide, and with awkward columns."""

from functools import partial

import numpy as np

from benchmarks.calibration.families.linear_model import problem, simulate
from benchmarks.calibration.problem import Problem, Rows, as_float32

WIDTHS, COLUMNS = "regression, width of the prior", "regression, awkward columns"


def problems() -> list[Problem]:
    return [
        problem("regression, prior 1", WIDTHS, partial(simulate, 100, 5, 201), 5, 1.0),
        problem("regression, prior 10", WIDTHS, partial(simulate, 100, 5, 202), 5, 10.0),
        problem("regression, prior 100", WIDTHS, partial(simulate, 100, 5, 203), 5, 100.0),
        problem("regression, prior 1000", WIDTHS, partial(simulate, 100, 5, 204), 5, 1000.0),
        problem("regression, prior 100, 1000 rows", WIDTHS, partial(simulate, 1000, 5, 205), 5, 100.0),
        problem("regression, prior 10, 1e5 rows", WIDTHS, partial(simulate, 100_000, 5, 206), 5, 10.0, is_quick=False),
        problem("regression, correlation 0.99, prior 100", COLUMNS, partial(simulate, 100, 5, 207, 0.99), 5, 100.0),
        problem("regression, correlation 0.99, prior 10", COLUMNS, partial(simulate, 1000, 8, 208, 0.99), 8, 10.0),
        problem("regression, raw units, 200 rows", COLUMNS, partial(_raw, 200), 3, 1e6, 1e5),
        problem("regression, raw units, 20,000 rows", COLUMNS, partial(_raw, 20_000), 3, 1e6, 1e5, is_quick=False),
        problem(
            "regression, 24 coefficients, 5000 rows",
            COLUMNS,
            partial(simulate, 5000, 24, 210, 0.3),
            24,
            10.0,
            is_quick=False,
        ),
        problem("regression, 24 coefficients, 120 rows", COLUMNS, partial(simulate, 120, 24, 211, 0.3), 24, 1.0),
    ]


def _raw(num_rows: int) -> Rows:
    """A year as it is written and a rate; y about 600,000."""
    generator = np.random.default_rng(209)
    year, rate = generator.integers(1950, 2020, size=num_rows), 40 + 5 * generator.normal(size=num_rows)
    y = 6e5 + 800 * (year - 1985) - 1500 * (rate - 40) + 1e4 * generator.normal(size=num_rows)
    return as_float32(x=np.column_stack([np.ones(num_rows), year, rate]), y=y)
