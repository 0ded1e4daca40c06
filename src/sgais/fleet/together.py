"""Keys that are taken together: what a chunk does to all of them, in a few compiled calls."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from sgais.approximation.pareto import LARGEST_TRUSTED
from sgais.compute.random_keys import named_seed
from sgais.estimators.importance.config import ImportanceConfig
from sgais.estimators.importance.many import (
    GROUP,
    NUM_PARTICLES,
    Found,
    KeyedRows,
    capacity_of,
    estimates,
    estimates_from_prior,
    have_other_modes,
    padded_lines,
)
from sgais.fleet.kept_rows import Group
from sgais.fleet.keyed_chunk import KeyedChunk
from sgais.models.base import Model
from sgais.predictive.ranks import ranks

FEW_ROWS = 32  # of a key, for which draws from the prior may do
LARGEST_ERROR = 0.2  # nats, of these
LARGEST_DIMENSION = 60  # of models whose keys are taken together
PURPOSE = 7433  # of random numbers


class Weighed(NamedTuple):
    """What is known of some keys behind a chunk, one entry for each.

    Attributes:
        log_evidences: Of all rows of the key, shape (keys, models).
        errors: Of these.
        is_trusted: Whether all models' draws are good enough, shape (keys,).
        particles: For each model, shape (keys, particles, d).
    """

    log_evidences: np.ndarray
    errors: np.ndarray
    is_trusted: np.ndarray
    particles: list[np.ndarray]


def can_be_together(models: Mapping[str, Model]) -> bool:
    """Whether one mode may do for all models."""
    return all(model.num_labels == 1 and model.dimension <= LARGEST_DIMENSION for model in models.values())


def seeds_of(seeds: np.ndarray, name: str) -> np.ndarray:
    """The seeds of one model, from those of the keys."""
    return np.array([named_seed(int(seed), name) for seed in seeds], np.uint32)


def weighed(
    models: Mapping[str, Model], config: ImportanceConfig, groups: list[Group], seeds: np.ndarray, is_new: np.ndarray
) -> Weighed:
    """Log Z of all rows of each key.

    Args:
        models: By name.
        config: Of the draws.
        groups: The rows of all keys.
        seeds: Of the keys.
        is_new: Whether a key has so many more rows than before that modes are looked for anew.
    """
    count, shape = len(seeds), (len(seeds), len(models))
    found = Weighed(
        np.zeros(shape),
        np.zeros(shape),
        np.ones(count, bool),
        [np.zeros((count, NUM_PARTICLES, model.dimension), np.float32) for model in models.values()],
    )
    for lines, rows in groups:
        for number, (name, model) in enumerate(models.items()):
            own = seeds_of(seeds[lines], name)
            of_model, is_good = _of_model(model, config, rows, own, is_new[lines])
            found.log_evidences[lines, number] = of_model.log_evidences
            found.errors[lines, number] = of_model.errors
            found.particles[number][lines] = of_model.particles
            found.is_trusted[lines] &= is_good
    return found


def _of_model(
    model: Model, config: ImportanceConfig, rows: KeyedRows, seeds: np.ndarray, is_new: np.ndarray
) -> tuple[Found, np.ndarray]:
    """What one model's draws say, and whether they are good: around a mode, or from the prior where rows are few."""
    found = estimates(model, config, rows, seeds)
    is_good = _are_good(found)
    new = np.flatnonzero(is_new & is_good)
    if len(new):
        some = KeyedRows({column: values[new] for column, values in rows.columns.items()}, rows.counts[new])
        is_good[new] = ~have_other_modes(model, some, seeds[new])
    young = np.flatnonzero(~is_good & (rows.counts <= FEW_ROWS))
    if len(young):
        from_prior = estimates_from_prior(model, rows, young)
        for all_values, values in zip(found, from_prior, strict=True):
            all_values[young] = values
        is_good[young] = _are_good(from_prior) & (from_prior.errors < LARGEST_ERROR)
    return found, is_good


def _are_good(found: Found) -> np.ndarray:
    return np.asarray((found.shapes < LARGEST_TRUSTED) & np.isfinite(found.log_evidences))


def ranks_of(model: Model, particles: np.ndarray, chunk: KeyedChunk, lines: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Where the new rows of some keys stand among what the model expected of them.

    Args:
        model: One that can predict.
        particles: Of the keys before the chunk.
        chunk: The new rows.
        lines: Their keys in it.
        keys: Of random numbers, one for each.
    """
    counts, found = chunk.counts[lines], np.zeros(len(lines))
    capacities = np.array([capacity_of(int(count)) for count in counts])
    for capacity in np.unique(capacities):
        some = np.flatnonzero(capacities == capacity)
        for start in range(0, len(some), GROUP):
            group = some[start : start + GROUP]
            chosen = np.resize(group, GROUP)
            source = padded_lines(chunk.starts[lines[chosen]], counts[chosen], int(capacity))
            rows = {name: values[source] for name, values in chunk.rows.items()}
            weights = (np.arange(capacity) < counts[chosen, None]).astype(np.float32)
            found[group] = ranks(model, particles[chosen], rows, weights, keys[chosen])[: len(group)]
    return found
