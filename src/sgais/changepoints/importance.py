"""Evidences of many segments at once: draws that stay where they are and gather the rows' likelihoods.

Each segment has draws of its own, made from the rows that it had then (`proposal.py`). A chunk is weighed at the
draws of all segments in one compiled call. As rows come, the posterior narrows and fewer of the draws count; then
they are made anew from all rows of the segment, ever more seldom. Log Z forgets the way there, so that its error
does not grow.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import jax
import numpy as np

from sgais.approximation.pareto import LARGEST_TRUSTED, tail_shape
from sgais.approximation.single_mode import num_from_prior, propose
from sgais.compute.blocks import BLOCK_ROWS, Blocks, pack
from sgais.compute.likelihood import block_sums
from sgais.compute.prior_draws import sample_prior
from sgais.compute.random_keys import random_key
from sgais.fields import Chunk, num_rows
from sgais.history import Past, RowView
from sgais.models.base import Model, real_dtype
from sgais.smc.effective_sample_size import effective_sample_sizes, errors_of_log_means, log_means

NUM_DRAWS = 512
NUM_STARTS = 16  # draws of the prior that a climb may begin from, beside the mode before
LEAST_ESS = 0.3  # of the draws
SMALL_BLOCKS, FEW_ROWS = 64, 2048  # rows of a block, and rows up to which blocks are so small
CAPACITY_GROWTH = 16  # loops run over the rows that there are: few programs cost more to compile than to run
SEGMENTS_AT_ONCE = (16, 64)  # and doublings of these
PURPOSE = 6151  # of random numbers, unlike those that estimators give their draws


@dataclass(frozen=True)
class Segments:
    """The draws of all segments, one line each.

    Attributes:
        starts: The rows at which the segments begin, shape (segments,).
        positions: Shape (segments, draws, d).
        log_weights: Not normalised: prior times likelihood over proposal; shape (segments, draws).
        modes: Of the posterior when the draws were made, shape (segments, d).
        num_refreshes: How often they were made.
        is_trusted: Whether the tail of the weights allows an error bar.
    """

    starts: np.ndarray
    positions: np.ndarray
    log_weights: np.ndarray
    modes: np.ndarray
    num_refreshes: np.ndarray
    is_trusted: np.ndarray

    @property
    def log_evidences(self) -> np.ndarray:
        """Log Z of each segment so far."""
        return log_means(self.log_weights)

    @property
    def effective_sizes(self) -> np.ndarray:
        """The effective sample size of each segment's draws."""
        return effective_sample_sizes(self.log_weights)

    @property
    def standard_errors(self) -> np.ndarray:
        """The standard errors of the log evidences."""
        return errors_of_log_means(self.log_weights)

    def only(self, lines: np.ndarray) -> "Segments":
        """Some of them."""
        return Segments(**{name: values[lines] for name, values in vars(self).items()})

    @classmethod
    def none(cls, dimension: int, num_draws: int = NUM_DRAWS) -> "Segments":
        """Before the first row."""
        shapes = {"positions": (0, num_draws, dimension), "log_weights": (0, num_draws), "modes": (0, dimension)}
        kinds: dict[str, Any] = {"starts": np.int64, "num_refreshes": np.int64, "is_trusted": bool}
        names = ("starts", "positions", "log_weights", "modes", "num_refreshes", "is_trusted")
        return cls(**{name: np.zeros(shapes.get(name, (0,)), kinds.get(name, np.float64)) for name in names})


def begun(model: Model, segments: Segments, start: int) -> Segments:
    """With one more segment, which has no rows yet: its draws are made with the first."""
    added = Segments.none(model.dimension, segments.log_weights.shape[1])
    added = Segments(**{name: np.zeros((1, *values.shape[1:]), values.dtype) for name, values in vars(added).items()})
    added.starts[0] = start
    together = {name: np.concatenate([values, getattr(added, name)]) for name, values in vars(segments).items()}
    return Segments(**together)


def with_chunk(model: Model, segments: Segments, rows: Past | RowView, chunk: Chunk, seed: int) -> Segments:
    """After a chunk, the last of all rows."""
    log_weights = segments.log_weights + _weighed(model, segments.positions, chunk)
    segments = replace(segments, log_weights=np.where(np.isnan(log_weights), -np.inf, log_weights))
    is_new = segments.num_refreshes == 0
    is_worn = segments.effective_sizes < LEAST_ESS * log_weights.shape[1]
    return _refreshed(model, segments, np.flatnonzero(is_new | is_worn), rows, seed)


def _refreshed(
    model: Model, segments: Segments, lines: Sequence[int] | np.ndarray, rows: Past | RowView, seed: int
) -> Segments:
    """New draws for some segments, from all their rows."""
    parts = {name: values.copy() for name, values in vars(segments).items()}
    num_draws = segments.log_weights.shape[1]
    from_prior = _prior_draws(model, seed, num_from_prior(num_draws) + NUM_STARTS)
    for line in lines:
        start, count = int(segments.starts[line]), int(segments.num_refreshes[line])
        before = segments.modes[line] if count else from_prior[0]
        starts = np.concatenate([from_prior[:NUM_STARTS], before[None]]).astype(real_dtype())
        blocks = packed(rows.between(start, rows.num_rows))
        key = random_key(seed, PURPOSE, start, count)
        drawn = jax.device_get(propose(model, starts, from_prior[NUM_STARTS:], blocks, key, num_draws))
        parts["positions"][line], parts["modes"][line] = drawn.positions, drawn.mode
        with np.errstate(invalid="ignore"):  # a draw outside of what the model allows: it counts for nothing
            logs = drawn.log_ratios.astype(np.float64) + drawn.block_sums.sum(axis=0, dtype=np.float64)
        logs = np.where(np.isnan(logs) | (logs == np.inf), -np.inf, logs)
        parts["log_weights"][line] = logs
        parts["num_refreshes"][line] = count + 1
        parts["is_trusted"][line] = tail_shape(logs) < LARGEST_TRUSTED
    return Segments(**parts)


def packed(rows: Chunk) -> Blocks:
    """Rows padded to one of a few capacities."""
    count, capacity = num_rows(rows), SMALL_BLOCKS
    while capacity < count:
        capacity *= CAPACITY_GROWTH
    return pack(rows, capacity, SMALL_BLOCKS if capacity <= FEW_ROWS else BLOCK_ROWS)


def _prior_draws(model: Model, seed: int, count: int) -> np.ndarray:
    """The same for all segments: what chance there is in them is then no difference between segments."""
    return np.asarray(sample_prior(model, count, seed, PURPOSE), real_dtype())


def _weighed(model: Model, positions: np.ndarray, chunk: Chunk) -> np.ndarray:
    """The chunk's log-likelihood at all draws, shape (segments, draws)."""
    count, num_draws, dimension = positions.shape
    if not count:
        return np.zeros((0, num_draws))
    size = next((size for size in SEGMENTS_AT_ONCE if count <= size), SEGMENTS_AT_ONCE[-1])
    while size < count:
        size *= 2
    padded = np.resize(positions, (size, num_draws, dimension)).astype(real_dtype())
    sums = np.asarray(_block_sums(model, padded.reshape(-1, dimension), packed(chunk)))
    return sums.sum(axis=0, dtype=np.float64).reshape(size, num_draws)[:count]


@partial(jax.jit, static_argnames="model")
def _block_sums(model: Model, positions: jax.Array, blocks: Blocks) -> jax.Array:
    return block_sums(model, positions, blocks)
