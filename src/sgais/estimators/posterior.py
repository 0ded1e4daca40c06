"""The log posterior of many rows and its derivatives, in float64 on the host.

At a million rows the total is about -1e6, of which float32 resolves 0.1: the device never forms it. It gives one sum
per block for the density, and one per group of blocks for the derivatives.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from sgais.blocks import Blocks
from sgais.estimators.surrogate import at_anchor, with_rows
from sgais.likelihood import log_likelihoods
from sgais.model import Model, real_dtype

BATCHES = (8, 64)  # positions per call: a line search, and many; a few shapes mean a few compilations


class Posterior:
    """The posterior density, not normalised, of a model on blocks of rows.

    Args:
        model: The model.
        blocks: All rows, on the device.
        num_blocks: If given, only this many blocks count.
    """

    def __init__(self, model: Model, blocks: Blocks, num_blocks: int | None = None) -> None:
        self.model = model
        self.blocks = blocks if num_blocks is None else blocks._replace(num_blocks=np.int32(num_blocks))

    def log_densities(self, positions: np.ndarray) -> np.ndarray:
        """The log density at each position, -inf where it is not a number."""
        batch = next((size for size in BATCHES if len(positions) <= size), BATCHES[-1])
        parts = [self._of_batch(positions[start : start + batch], batch) for start in range(0, len(positions), batch)]
        totals = np.concatenate(parts)
        return np.where(np.isnan(totals) | (totals == np.inf), -np.inf, totals)

    def derivatives(self, position: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gradient (d,) and Hessian (d, d) of the log density at one position."""
        found = with_rows(self.model, at_anchor(self.model, position), self.blocks)
        return found.gradient, found.hessian

    def _of_batch(self, positions: np.ndarray, batch: int) -> np.ndarray:
        padded = jnp.asarray(np.resize(positions, (batch, positions.shape[1])), real_dtype())
        totals = log_likelihoods(self.model, padded, self.blocks) + log_priors(self.model, padded)
        return totals[: len(positions)]


def log_priors(model: Model, positions: np.ndarray | jax.Array) -> np.ndarray:
    """The log density of the prior on R^d at each position."""
    return np.asarray(_log_priors(model, positions), np.float64)


@partial(jax.jit, static_argnames="model")
def _log_priors(model: Model, positions: jax.Array) -> jax.Array:
    return jax.vmap(model.log_prior_at)(positions)
