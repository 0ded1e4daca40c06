"""Have the data changed? The latest rows against those just before them, as a particle sees both.

A posterior that has to follow a change may be left in the wrong mode, and its weights need not show it: all particles
have gone the same way. That rows have become less (or more) likely than their neighbours does.
"""

from functools import partial

import jax
import numpy as np

from sgais.compute.blocks import SLAB_ROWS, Blocks, pack
from sgais.compute.likelihood import pointwise
from sgais.compute.random_keys import KeySequence
from sgais.estimators.default import policy
from sgais.fields import Chunk, num_rows
from sgais.history import RowSpan, RowView
from sgais.models.base import Model, real_dtype


def has_changed(model: Model, position: np.ndarray, rows: RowView, span: RowSpan, keys: KeySequence) -> bool:
    """Whether the latest rows, up to the end of the span, are of another kind than as many before them.

    Args:
        model: The model.
        position: A particle of the posterior of the rows before the span.
        rows: All rows.
        span: Of the rows that are just being taken in; rows before these are added where they are few.
        keys: For random numbers.
    """
    start, end = span
    width = max(end - start, policy.FEWEST_COMPARED, end // policy.WINDOWS)
    border, first = end - width, max(0, end - 2 * width)
    if border - first < policy.FEWEST_COMPARED or start < policy.ROWS_PER_PARAMETER * model.dimension:
        return False
    old, new = (
        _log_likelihoods(model, position, rows.sample(keys.generator(), policy.COMPARED_ROWS, *part))
        for part in ((first, border), (border, end))
    )
    if min(len(old), len(new)) < policy.FEWEST_COMPARED // 2:  # impossible at this particle, or not kept
        return False
    expected = model.dimension / start  # by which rows that a particle was fitted to are likelier
    # The variances of both sides: one absurd row is no change of all.
    error = np.sqrt(old.var() / len(old) + new.var() / len(new))
    return bool(abs(old.mean() - new.mean()) > expected + policy.LARGEST_DIFFERENCE * error)


def _log_likelihoods(model: Model, position: np.ndarray, rows: Chunk) -> np.ndarray:
    """The log-likelihood of each row at one position, without those that are impossible there."""
    found = np.asarray(_pointwise(model, position[None].astype(real_dtype()), pack(rows, SLAB_ROWS)), np.float64)[0]
    return found[: num_rows(rows)][np.isfinite(found[: num_rows(rows)])]


@partial(jax.jit, static_argnames="model")
def _pointwise(model: Model, positions: jax.Array, blocks: Blocks) -> jax.Array:
    return pointwise(model, positions, blocks)
