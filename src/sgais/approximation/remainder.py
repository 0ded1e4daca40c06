"""What the log posterior has beyond second order around an anchor: how much of it changes along a particle's step.

The quadratic part of a sample of rows is known from the sample's derivatives at the few anchors, so that a particle
costs two likelihoods a row and no derivatives. Rows come in groups, whose spread tells the noise of the sampling.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import jax
import numpy as np

from sgais.approximation.taylor import Surrogate, at_anchor
from sgais.compute.blocks import SLAB_ROWS, Blocks, slabs
from sgais.compute.likelihood import change_by_group, derivatives_by_group
from sgais.compute.parallel import in_groups
from sgais.compute.positions import log_priors
from sgais.fields import Chunk, num_rows
from sgais.models.base import Model, real_dtype

BLOCK_ROWS = 128
MOST_GROUPS = SLAB_ROWS // BLOCK_ROWS  # of rows; a Hessian is kept for each


class Steps(NamedTuple):
    """Where particles go, and the anchors around which the quadratic part is taken off.

    Attributes:
        before: Shape (particles, d).
        after: Shape (particles, d).
        anchors: Shape (modes, d).
        modes: The number of each particle's anchor.
        bases: Of each anchor's surrogate: the coordinates in which rows are differentiated there.
    """

    before: np.ndarray
    after: np.ndarray
    anchors: np.ndarray
    modes: np.ndarray
    bases: tuple[np.ndarray | None, ...]


def from_anchors(surrogates: Sequence[Surrogate], modes: np.ndarray, positions: np.ndarray) -> Steps:
    """From the anchor of each particle's surrogate to its position."""
    anchors = np.array([surrogate.anchor for surrogate in surrogates])
    return Steps(anchors[modes], positions, anchors, modes, tuple(surrogate.basis for surrogate in surrogates))


class Sampled(NamedTuple):
    """What a sample of rows says of all of them.

    Attributes:
        values: The change of the remainder along each step, shape (particles,).
        deviations: Of groups of rows from their mean, scaled so that their squares add up to the variance that sampling
            has, shape (groups, particles).
    """

    values: np.ndarray
    deviations: np.ndarray

    @property
    def variance(self) -> np.ndarray:
        """The variance of each value."""
        return np.sum(self.deviations**2, axis=0)

    def variance_of_mean(self, shares: np.ndarray) -> float:
        """The variance of the mean of the values, each with its share: all of them come from the same rows."""
        return float(np.sum((self.deviations @ shares) ** 2))


def of_rows(model: Model, steps: Steps, sample: Chunk, total: int) -> tuple[np.ndarray, np.ndarray]:
    """The change of the remainder over `total` rows, from a sample of them, and the variance that sampling has."""
    found = by_group(model, steps, sample, total)
    return found.values, found.variance


def by_group(model: Model, steps: Steps, sample: Chunk, total: int) -> Sampled:
    """The change of the remainder over `total` rows, from a sample of them."""
    parts = slabs(sample, SLAB_ROWS, BLOCK_ROWS)
    blocks_per_group = _power_of_two(len(parts))
    changes = np.concatenate([_beyond_second_order(model, steps, slab, blocks_per_group) for slab in parts])
    return _scaled_up(changes, num_rows(sample), blocks_per_group * BLOCK_ROWS, total)


def larger_sample(size: int, total: int, largest: int) -> int:
    """Four times as many rows, or all of them where that is not many more; no more than the largest sample."""
    larger = 4 * size
    return min(total if total < 2 * larger else larger, largest)


def of_prior(model: Model, steps: Steps) -> np.ndarray:
    """The change of the prior's remainder."""
    change = log_priors(model, steps.after) - log_priors(model, steps.before)
    for mode in np.unique(steps.modes):
        mine, prior = steps.modes == mode, at_anchor(model, steps.anchors[mode])
        change[mine] -= prior.values_at(steps.after[mine]) - prior.values_at(steps.before[mine])
    return change


def _power_of_two(count: int) -> int:
    """That is at least as large: groups of so many blocks fill a slab."""
    return 1 << (count - 1).bit_length()


def _beyond_second_order(model: Model, steps: Steps, slab: Blocks, blocks_per_group: int) -> np.ndarray:
    """The change of each group's remainder along each step, shape (groups, particles)."""
    used = -(-int(slab.num_blocks) // blocks_per_group)
    ends = (positions.astype(real_dtype()) for positions in (steps.before, steps.after))
    found = in_groups(lambda *group: _changes(model, *group, slab, blocks_per_group), *ends)
    changes = np.asarray(found, np.float64).T[:used]
    for mode in np.unique(steps.modes):
        mine, anchor, basis = steps.modes == mode, steps.anchors[mode], steps.bases[mode]
        directions = None if basis is None else basis.astype(real_dtype())
        derivatives = _derivatives(model, anchor.astype(real_dtype()), slab, blocks_per_group, directions)
        gradients, hessians = (np.asarray(part, np.float64)[:used] for part in derivatives)
        after, before = (ends[mine] - anchor for ends in (steps.after, steps.before))
        if basis is not None:
            after, before = (np.linalg.solve(basis, step.T).T for step in (after, before))
        changes[:, mine] -= _quadratic(after, gradients, hessians) - _quadratic(before, gradients, hessians)
    return changes


def _quadratic(steps: np.ndarray, gradients: np.ndarray, hessians: np.ndarray) -> np.ndarray:
    """The quadratic of each group at each step from the anchor, shape (groups, particles)."""
    return gradients @ steps.T + 0.5 * np.sum((steps @ hessians) * steps, axis=2)


def _scaled_up(groups: np.ndarray, sampled: int, rows_per_group: int, total: int) -> Sampled:
    """From sums over groups of sampled rows to the sum over all rows."""
    sums, scale = groups.sum(axis=0), total / sampled
    count = -(-sampled // rows_per_group)
    if sampled == total or count < 2:
        return Sampled(scale * sums, np.zeros((1, len(sums))))
    rows = np.minimum(rows_per_group, sampled - rows_per_group * np.arange(count))
    deviations = groups[:count] - rows[:, None] / sampled * sums
    return Sampled(scale * sums, scale * np.sqrt(count / (count - 1)) * deviations)


@partial(jax.jit, static_argnames="model")
def _changes(
    model: Model, before: jax.Array, after: jax.Array, blocks: Blocks, blocks_per_group: jax.Array | int
) -> jax.Array:
    return change_by_group(model, before, after, blocks, MOST_GROUPS, blocks_per_group)


@partial(jax.jit, static_argnames="model")
def _derivatives(
    model: Model, position: jax.Array, blocks: Blocks, blocks_per_group: jax.Array | int, basis: jax.Array | None
) -> tuple[jax.Array, jax.Array]:
    return derivatives_by_group(model, position, blocks, MOST_GROUPS, blocks_per_group, basis)[1:]
