"""The log posterior of many rows and its derivatives, in float64 on the host.

At a million rows the total is about -1e6, of which float32 resolves 0.1: the device never forms it. It gives one sum
per block for the density, and one per group of blocks for the derivatives. A Hessian summed in float32 throughout
would be off by about 0.3 in every entry at a million rows, while a direction that only the prior determines (a
constant added to all logits of a softmax) has a curvature of 1.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from sgais.blocks import Blocks
from sgais.estimators.particles import draw_prior, place
from sgais.likelihood import derivatives, log_likelihoods
from sgais.model import Model, real_dtype

GROUP_BLOCKS = 16  # blocks whose derivatives are added in float32
PRIOR_BATCH = 256
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
        at = position.astype(real_dtype())
        groups = _likelihood_derivatives(self.model, at, self.blocks)
        prior = _prior_derivatives(self.model, at)
        gradient, hessian = (
            np.asarray(group).sum(axis=0, dtype=np.float64) + np.asarray(part, np.float64)
            for group, part in zip(groups, prior, strict=True)
        )
        return gradient, 0.5 * (hessian + hessian.T)

    def _of_batch(self, positions: np.ndarray, batch: int) -> np.ndarray:
        padded = jnp.asarray(np.resize(positions, (batch, positions.shape[1])), real_dtype())
        totals = log_likelihoods(self.model, padded, self.blocks) + log_priors(self.model, padded)
        return totals[: len(positions)]


def sample_prior(model: Model, num_draws: int, seed: int, purpose: int, number: int = 0) -> np.ndarray:
    """Draws from the prior, shape (num_draws, d), named by what they are for.

    They come in batches of one size, since samplers of gamma variables take many seconds to compile.
    """
    places = [place(seed, purpose, number, part) for part in range(-(-num_draws // PRIOR_BATCH))]
    batches = [np.asarray(draw_prior(model, PRIOR_BATCH, here)) for here in places]
    return np.concatenate([np.zeros((0, model.dimension), real_dtype()), *batches])[:num_draws]


def log_priors(model: Model, positions: np.ndarray | jax.Array) -> np.ndarray:
    """The log density of the prior on R^d at each position."""
    return np.asarray(_log_priors(model, positions), np.float64)


@partial(jax.jit, static_argnames="model")
def _log_priors(model: Model, positions: jax.Array) -> jax.Array:
    return jax.vmap(model.log_prior_at)(positions)


@partial(jax.jit, static_argnames="model")
def _prior_derivatives(model: Model, position: jax.Array) -> tuple[jax.Array, jax.Array]:
    gradient = jax.grad(model.log_prior_at)
    return gradient(position), jax.jacfwd(gradient)(position)


@partial(jax.jit, static_argnames="model")
def _likelihood_derivatives(model: Model, position: jax.Array, blocks: Blocks) -> tuple[jax.Array, jax.Array]:
    """Sums over groups of blocks, shapes (groups, d) and (groups, d, d)."""

    def add_block(index: jax.Array, totals: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        columns = {name: values[index][None] for name, values in blocks.columns.items()}
        block = Blocks(columns, blocks.is_row[index][None], np.int32(1))
        gradients, hessians = derivatives(model, position[None], block)
        group = index // GROUP_BLOCKS
        return totals[0].at[group].add(gradients[0]), totals[1].at[group].add(hessians[0])

    num_groups, dimension = -(-len(blocks.is_row) // GROUP_BLOCKS), len(position)
    shapes = (num_groups, dimension), (num_groups, dimension, dimension)
    start = jnp.zeros(shapes[0], position.dtype), jnp.zeros(shapes[1], position.dtype)
    return jax.lax.fori_loop(0, blocks.num_blocks, add_block, start)
