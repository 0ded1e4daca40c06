"""The log posterior of many rows and its derivatives, in float64 on the host.

At a million rows the total is about -1e6, of which float32 resolves 0.1: the device never forms it. It gives one sum
per block for the density, and one per group of blocks for the derivatives.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from sgais.compute.blocks import Blocks
from sgais.compute.likelihood import derivatives_by_group, log_likelihoods
from sgais.compute.parallel import GROUP, in_parallel
from sgais.compute.positions import log_priors
from sgais.fields import Chunk
from sgais.models.base import Model, real_dtype

BATCHES = (8, GROUP)  # positions per call: a line search, and many; a few shapes mean a few compilations
DERIVATIVES_AT_ONCE = 8  # positions at most per call, which sees no more than it is given
MANY_PARAMETERS = 300  # whose Hessians come one by one: each is large enough


class Posterior:
    """The posterior density, not normalised, of a model on slabs of rows.

    Args:
        model: The model.
        slabs: All rows.
    """

    def __init__(self, model: Model, slabs: Sequence[Blocks]) -> None:
        self.model, self.slabs = model, slabs

    @property
    def num_blocks(self) -> int:
        """How many blocks of rows there are."""
        return int(sum(slab.num_blocks for slab in self.slabs))

    @property
    def block_rows(self) -> int:
        """How many rows a full block has."""
        return int(self.slabs[0].weights.shape[1])

    def of_first(self, num_blocks: int) -> "Posterior":
        """The posterior of fewer rows."""
        starts = np.cumsum([0, *(int(slab.num_blocks) for slab in self.slabs)])
        first = [
            slab._replace(num_blocks=np.int32(min(slab.num_blocks, num_blocks - start)))
            for slab, start in zip(self.slabs, starts[:-1], strict=True)
            if start < num_blocks
        ]
        return Posterior(self.model, first)

    def rows(self) -> Chunk:
        """The rows themselves, without padding, on the host."""
        parts = [_rows(slab) for slab in self.slabs]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def log_densities(self, positions: np.ndarray) -> np.ndarray:
        """The log density at each position, -inf where it is not a number."""
        batch = next((size for size in BATCHES if len(positions) <= size), BATCHES[-1])
        parts = [self._of_batch(positions[start : start + batch], batch) for start in range(0, len(positions), batch)]
        totals = np.concatenate(parts)
        return np.where(np.isnan(totals) | (totals == np.inf), -np.inf, totals)

    def derivatives(self, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gradients (n, d) and Hessians (n, d, d) of the log density at positions (n, d)."""
        parts = likelihood_derivatives(self.model, positions, self.slabs), prior_derivatives(self.model, positions)
        gradients, hessians = (np.sum(each, axis=0) for each in zip(*parts, strict=True))
        return gradients, 0.5 * (hessians + hessians.transpose(0, 2, 1))

    def _of_batch(self, positions: np.ndarray, batch: int) -> np.ndarray:
        padded = np.resize(positions, (batch, positions.shape[1]))
        totals = log_likelihoods(self.model, padded, self.slabs) + log_priors(self.model, padded)
        return totals[: len(positions)]


def likelihood_derivatives(
    model: Model, positions: np.ndarray, slabs: Sequence[Blocks]
) -> tuple[np.ndarray, np.ndarray]:
    """Gradients (n, d) and Hessians (n, d, d) of the log-likelihood of all rows, slabs added in float64."""

    def of_batch(padded: np.ndarray, count: int) -> list[Any]:
        return [_likelihood_derivatives(model, padded, np.int32(count), slab) for slab in slabs]

    return _in_batches(model, positions, of_batch)


def prior_derivatives(model: Model, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same of the prior."""
    return _in_batches(model, positions, lambda padded, _: [_prior_derivatives(model, padded)])


def _in_batches(
    model: Model, positions: np.ndarray, of_batch: Callable[[np.ndarray, int], list[Any]]
) -> tuple[np.ndarray, np.ndarray]:
    """The sums of what a function gives in parts, for as many positions at a time as one program takes."""
    at_once = DERIVATIVES_AT_ONCE if model.dimension <= MANY_PARAMETERS else 1

    def total(batch: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        count = len(batch)
        padded = np.resize(batch, (at_once, batch.shape[1])).astype(real_dtype())
        gradients, hessians = zip(*jax.device_get(of_batch(padded, count)), strict=True)
        return _total(gradients)[:count], _total(hessians)[:count]

    batches = [positions[start : start + at_once] for start in range(0, len(positions), at_once)]
    gradients, hessians = zip(*in_parallel(total, batches), strict=True)
    return np.concatenate(gradients), np.concatenate(hessians)


def _total(parts: Sequence[np.ndarray]) -> np.ndarray:
    return np.sum([part.astype(np.float64) for part in parts], axis=0)


def _rows(slab: Blocks) -> Chunk:
    weights = np.asarray(slab.weights)[: int(slab.num_blocks)]
    return {name: np.asarray(values)[: len(weights)][weights > 0] for name, values in slab.columns.items()}


@partial(jax.jit, static_argnames="model")
def _prior_derivatives(model: Model, positions: jax.Array) -> tuple[jax.Array, jax.Array]:
    return jax.vmap(jax.grad(model.log_prior_at))(positions), jax.vmap(jax.hessian(model.log_prior_at))(positions)


@partial(jax.jit, static_argnames="model")
def _likelihood_derivatives(
    model: Model, positions: jax.Array, count: jax.Array, blocks: Blocks
) -> tuple[jax.Array, jax.Array]:
    """Gradient and Hessian at the first `count` positions, one after another: one program for any number of them."""

    def at(index: jax.Array, totals: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        _, gradient, hessian = derivatives_by_group(model, positions[index], blocks, 1, len(blocks.weights))
        return totals[0].at[index].set(gradient[0]), totals[1].at[index].set(hessian[0])

    number, dimension = positions.shape
    start = jnp.zeros_like(positions), jnp.zeros((number, dimension, dimension), positions.dtype)
    return jax.lax.fori_loop(0, count, at, start)
