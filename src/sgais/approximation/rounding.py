"""What float32 may cost log Z. Sums are in float64, so that it is what each row is off by that adds up.

Most of that is as often too large as too small. What is the same for all rows is not: allowed for is half a unit in the
last place. Logs of gamma functions are worse. XLA has them in float32 to six digits, too large by about 1e-6 at almost
every count.
"""

from functools import partial

import jax
import numpy as np

from sgais.fields import Chunk
from sgais.models.base import Model, Rows, real_dtype

HALF_A_UNIT = 6e-8  # in the last place, of log Z
LOG_GAMMA = 1.2e-6  # nats for each row


def rounding_error(model: Model, rows: Chunk, num_rows: int, log_evidence: float) -> float:
    """In nats, of log Z of so many rows like these."""
    error = HALF_A_UNIT * abs(log_evidence)
    return max(error, LOG_GAMMA * num_rows) if takes_log_gamma(model, rows) else error


def takes_log_gamma(model: Model, rows: Chunk) -> bool:
    """Whether the log-likelihood of such rows, as JAX traces it, has a log of a gamma function in it."""
    one = {name: values[:1] for name, values in rows.items()}
    traced = _log_likelihood.trace(model, np.zeros(model.dimension, real_dtype()), one)
    return " lgamma " in str(traced.jaxpr)


@partial(jax.jit, static_argnames="model")
def _log_likelihood(model: Model, position: jax.Array, rows: Rows) -> jax.Array:
    return model.log_likelihood_at(position, rows)
