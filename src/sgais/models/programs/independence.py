"""What holds of every model, tried on one that comes from elsewhere: rows count one by one."""

import jax
import numpy as np

from sgais.errors import ModelError
from sgais.fields import Chunk, num_rows
from sgais.models.base import Model, real_dtype

CHECKED_POINTS = 8  # parameter values at which a program is tried


def check_rows_are_independent(model: Model, rows: Chunk, kind: str) -> None:
    """A row's log-likelihood must be the same whatever rows stand beside it, and in whatever order.

    Args:
        model: What the program has become.
        rows: Some of its rows.
        kind: What it is, for the message.
    """
    model.check_log_likelihood(rows)
    half = num_rows(rows) // 2
    later = {name: values[half:][::-1] for name, values in rows.items()}
    pointwise = jax.jit(jax.vmap(model.log_likelihood_at, in_axes=(0, None)))
    positions = points_to_check(model)
    together = pointwise(positions, rows)[:, half:][:, ::-1]
    if not np.allclose(together, pointwise(positions, later), rtol=1e-4, atol=1e-4, equal_nan=True):
        raise ModelError(
            f"the likelihood of the {kind} model does not factor over rows: a row's log density changes with the "
            "rows beside it. Give each row all that it depends on, as columns (see sgais.streams.lagged)."
        )


def points_to_check(model: Model) -> np.ndarray:
    """Any points of R^d will do; draws from the prior would have to be compiled first."""
    return np.random.default_rng(0).normal(size=(CHECKED_POINTS, model.dimension)).astype(real_dtype())
