"""Log Z of many keys at once, each from all its rows: a mode, draws around it, weights.

What comes out for a key is a function of its rows and its seed alone. Neither the other keys in the call nor how the
rows have come matter, to the last bit: groups of keys have one size, and rows one of a few capacities.
"""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from sgais.approximation.pareto import LARGEST_TRUSTED, tail_shape, unseen_tail
from sgais.approximation.single_mode import Ascents, Draws, ascents, num_from_prior, propose
from sgais.compute.blocks import Blocks, slabs
from sgais.compute.likelihood import log_likelihoods
from sgais.compute.prior_draws import sample_prior
from sgais.estimators.importance.config import ImportanceConfig
from sgais.fields import Chunk
from sgais.models.base import Model, real_dtype
from sgais.smc.effective_sample_size import log_means
from sgais.smc.weights import without_failures

GROUP = 16  # keys of a call; fewer are filled up, for one compiled program gives every key the same bits
CAPACITIES = (32, 128, 512, 2048)  # rows of a key, and four times as many as long as need be
BLOCK_ROWS = 32
NUM_STARTS = 16  # draws of the prior, of which the best is where a climb begins
NUM_ASCENTS = 4  # that have to end at one mode
NUM_PARTICLES = 32  # of equal weight, kept to say what is expected of the next rows
POOL = 8192  # draws of the prior, of which each key takes some
STRIDE = 997  # from the draws of one attempt to those of the next
ATTEMPTS = 4  # at a climb and its draws, where the weights have a heavy tail: a climb may end nowhere
PRIOR_DRAWS = 4096
FAR = 0.5  # standard deviations between the ends of two ascents to two modes
HOPELESS = 12.0  # nats below the best, beyond which a mode does not matter
PURPOSE = 7411  # of random numbers, unlike those of other estimators

OF_KEYS = Blocks(0, 0, None)  # type: ignore[arg-type]  # the axes of keys: loops run over blocks in use of any key

Part = TypeVar("Part")


class KeyedRows(NamedTuple):
    """The rows of some keys, all padded to one capacity.

    Attributes:
        columns: Shape (keys, capacity, ...); behind the rows of a key are copies of one.
        counts: How many rows each key has.
    """

    columns: Chunk
    counts: np.ndarray


class Found(NamedTuple):
    """What is known of some keys, one entry each.

    Attributes:
        log_evidences: Of all their rows.
        errors: Standard errors of these.
        shapes: Of the tail of their weights (`approximation/pareto.py`).
        particles: Of equal weight, shape (keys, NUM_PARTICLES, d).
    """

    log_evidences: np.ndarray
    errors: np.ndarray
    shapes: np.ndarray
    particles: np.ndarray


def padded_lines(starts: np.ndarray, counts: np.ndarray, capacity: int) -> np.ndarray:
    """For each key the numbers of its rows and, behind them, that of the last one again, shape (keys, capacity)."""
    return starts[:, None] + np.minimum(np.arange(capacity), counts[:, None] - 1)


def capacity_of(rows: int) -> int:
    """What so many rows of a key are padded to."""
    capacity = next((one for one in CAPACITIES if rows <= one), CAPACITIES[-1])
    while capacity < rows:
        capacity *= 4
    return capacity


def estimates(model: Model, config: ImportanceConfig, rows: KeyedRows, seeds: np.ndarray) -> Found:
    """What is found for each key; a log Z of -inf where no draw explains its rows."""

    def of_group(lines: np.ndarray) -> Found:
        positions, log_weights = drawn(model, config, rows, seeds, lines)
        return summary(positions[: len(lines)], log_weights[: len(lines)])

    return _by_group(of_group, rows.counts)


def estimates_from_prior(model: Model, rows: KeyedRows, lines: np.ndarray) -> Found:
    """What draws from the prior alone say of some keys, one by one: of few rows they say enough, and miss no mode."""
    positions = _pool(model)[:PRIOR_DRAWS]
    found = []
    for line in lines:
        own = {name: values[line, : rows.counts[line]] for name, values in rows.columns.items()}
        log_weights, _ = without_failures(log_likelihoods(model, positions, slabs(own)))
        found.append(summary(positions[None], log_weights[None]))
    together: Found = jax.tree.map(lambda *leaves: np.concatenate(leaves), *found)
    return together


def drawn(
    model: Model, config: ImportanceConfig, rows: KeyedRows, seeds: np.ndarray, lines: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Draws of a group, (keys, draws, d), and their log weights; as many as a group has, the last ones repeated."""
    blocks = _blocks(rows, lines)
    positions, log_weights = _weighed(model, config, blocks, _keys(seeds, lines))
    for attempt in range(1, ATTEMPTS):
        poor = [line for line, each in enumerate(log_weights) if not tail_shape(each) < LARGEST_TRUSTED]
        if not poor:
            break
        again = _weighed(model, config, blocks, _keys(seeds, lines, attempt))
        positions[poor], log_weights[poor] = again[0][poor], again[1][poor]
    return positions, log_weights


def _weighed(model: Model, config: ImportanceConfig, blocks: Blocks, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    found = jax.device_get(_drawn(model, blocks, keys, _pool(model), config.num_draws))
    log_weights = found.log_ratios.astype(np.float64) + found.block_sums.sum(axis=1, dtype=np.float64)
    return np.array(found.positions), np.where(np.isnan(log_weights) | (log_weights == np.inf), -np.inf, log_weights)


def have_other_modes(model: Model, rows: KeyedRows, seeds: np.ndarray) -> np.ndarray:
    """Whether ascents from several draws of the prior end at more than one mode that matters, for each key."""

    def of_group(lines: np.ndarray) -> np.ndarray:
        found = jax.device_get(_ascents(model, _blocks(rows, lines), _keys(seeds, lines), _pool(model)))
        matters = found.heights > found.heights.max(axis=1, keepdims=True) - HOPELESS
        return (matters & ~(found.distances < FAR)).any(axis=1)[: len(lines)]

    return np.asarray(_by_group(of_group, rows.counts))


def _by_group(function: Callable[[np.ndarray], Part], counts: np.ndarray) -> Part:
    """What a function says of groups of keys, in the order of the keys; groups are of keys with about as many rows."""
    order = np.argsort(counts, kind="stable")
    groups = [order[start : start + GROUP] for start in range(0, len(order), GROUP)]
    # One after the other: compiled programs with eigenvalues of many matrices wait for each other's threads forever.
    parts = [function(group) for group in groups]
    together = jax.tree.map(lambda *leaves: np.concatenate(leaves), *parts)
    back = np.argsort(order, kind="stable")
    ordered: Part = jax.tree.map(lambda leaf: leaf[back], together)
    return ordered


def _keys(seeds: np.ndarray, lines: np.ndarray, attempt: int = 0) -> np.ndarray:
    """Of random numbers, one for each key of a group."""
    return np.stack([seeds[np.resize(lines, GROUP)], np.full(GROUP, PURPOSE + attempt)], axis=1).astype(np.uint32)


def _blocks(rows: KeyedRows, lines: np.ndarray) -> Blocks:
    """The rows of a group; all arrays have a leading axis of keys."""
    chosen = np.resize(lines, GROUP)
    counts = rows.counts[chosen]
    room = max(CAPACITIES[-1], next(iter(rows.columns.values())).shape[1])
    weights = (np.arange(room) < counts[:, None]).astype(np.float32).reshape(GROUP, -1, BLOCK_ROWS)
    columns = {name: _in_blocks(values, chosen, room) for name, values in rows.columns.items()}
    return Blocks(columns, weights, np.int32(-(-counts.max() // BLOCK_ROWS)))


def _in_blocks(values: np.ndarray, chosen: np.ndarray, room: int) -> np.ndarray:
    """Some lines of a column, with so much room for each that one program serves them all; loops end before it."""
    roomy = np.zeros((len(chosen), room, *values.shape[2:]), values.dtype)
    roomy[:, : values.shape[1]] = values[chosen]
    return roomy.reshape(len(chosen), -1, BLOCK_ROWS, *values.shape[2:])


def summary(positions: np.ndarray, log_weights: np.ndarray) -> Found:
    """What draws (keys, draws, d) and their log weights say."""
    shapes = np.array([tail_shape(each) for each in log_weights])
    tails = np.array([unseen_tail(each, shape) for each, shape in zip(log_weights, shapes, strict=True)])
    errors = np.hypot(_errors(log_weights), tails)
    return Found(log_means(log_weights), errors, shapes, _thinned(positions, log_weights))


def _errors(log_weights: np.ndarray) -> np.ndarray:
    """The standard error of each log mean: draws of the prior are as many as they are, and so are the others."""
    border = log_weights.shape[1] - num_from_prior(log_weights.shape[1])
    tops = log_weights.max(axis=1, keepdims=True)
    weights = np.exp(log_weights - np.where(np.isfinite(tops), tops, 0.0))
    parts = weights[:, :border], weights[:, border:]
    variance = sum(part.shape[1] * part.var(axis=1, ddof=1) for part in parts)
    return np.sqrt(variance) / np.maximum(weights.sum(axis=1), 1e-30)


def _thinned(positions: np.ndarray, log_weights: np.ndarray) -> np.ndarray:
    """A few draws of equal weight, evenly spread over those that there are."""
    tops = log_weights.max(axis=1, keepdims=True)
    shares = np.cumsum(np.exp(log_weights - np.where(np.isfinite(tops), tops, 0.0)), axis=1)
    points = (np.arange(NUM_PARTICLES) + 0.5) / NUM_PARTICLES * shares[:, -1:]
    chosen = (shares[:, None, :] <= points[:, :, None]).sum(axis=2)
    chosen = np.minimum(chosen, positions.shape[1] - 1)
    return np.asarray(np.take_along_axis(positions, chosen[:, :, None], axis=1))


@lru_cache(maxsize=64)
def _pool(model: Model) -> np.ndarray:
    return np.asarray(sample_prior(model, POOL, 0, PURPOSE), real_dtype())


def _of_pool(pool: jax.Array, key: jax.Array, count: int) -> jax.Array:
    """Draws of the prior that are a key's own, all but."""
    first = key[0] % POOL + STRIDE * (key[1] - PURPOSE)
    return pool[(first + jnp.arange(count, dtype=jnp.uint32)) % POOL]


@partial(jax.jit, static_argnames=("model", "num_draws"))
def _drawn(model: Model, blocks: Blocks, keys: jax.Array, pool: jax.Array, num_draws: int) -> Draws:
    def of_key(blocks: Blocks, key: jax.Array) -> Draws:
        from_prior = _of_pool(pool, key, NUM_STARTS + num_from_prior(num_draws))
        return propose(model, from_prior[:NUM_STARTS], from_prior[NUM_STARTS:], blocks, key, num_draws)

    return jax.vmap(of_key, in_axes=(OF_KEYS, 0))(blocks, keys)


@partial(jax.jit, static_argnames="model")
def _ascents(model: Model, blocks: Blocks, keys: jax.Array, pool: jax.Array) -> Ascents:
    def of_key(blocks: Blocks, key: jax.Array) -> Ascents:
        return ascents(model, _of_pool(pool, key, NUM_ASCENTS), blocks)

    return jax.vmap(of_key, in_axes=(OF_KEYS, 0))(blocks, keys)
