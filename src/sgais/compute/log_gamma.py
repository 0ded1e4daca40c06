"""Whether a model takes logs of gamma functions of its rows, which XLA has in float32 to six digits only.

They come out too large by about 1e-6 at almost every count, so that what is lost grows with the rows.
"""

from functools import partial

import jax
import numpy as np

from sgais.fields import Chunk
from sgais.models.base import Model, Rows, real_dtype


def takes_log_gamma(model: Model, rows: Chunk) -> bool:
    """Whether the log-likelihood of such rows, as JAX traces it, has a log of a gamma function in it."""
    traced = _log_likelihood.trace(model, np.zeros(model.dimension, real_dtype()), rows)
    return " lgamma " in str(traced.jaxpr)


@partial(jax.jit, static_argnames="model")
def _log_likelihood(model: Model, position: jax.Array, rows: Rows) -> jax.Array:
    return model.log_likelihood_at(position, rows)
