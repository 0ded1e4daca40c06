"""Modes of a posterior: which are one, how much evidence each holds, and which are worth keeping."""

from collections.abc import Sequence
from itertools import combinations
from math import factorial

import numpy as np

from sgais.approximation.modes.newton import Mode
from sgais.compute.label_symmetry import label_order, num_images, relabelled, reordered
from sgais.models.base import Model

SAME_MODE = 0.5  # posterior standard deviations
OTHER_HEIGHT = 1.0  # nats between two converged ascents that cannot have ended in one mode
HOPELESS = 30.0  # nats below the best


def merge(model: Model, modes: Sequence[Mode], new: Mode) -> list[Mode]:
    """The modes and a new one, which may be one of them or a relabelled image of it."""
    number = find(model, modes, new)
    if number is None:
        return [*modes, new]
    merged, known = list(modes), modes[number]
    higher = max(known, new, key=lambda one: one.log_posterior)
    merged[number] = higher._replace(
        num_starts=known.num_starts + new.num_starts, num_steps=known.num_steps + new.num_steps
    )
    return merged


def find(model: Model, modes: Sequence[Mode], new: Mode) -> int | None:
    """The number of the mode that a new one is an image of, if any."""
    for number, mode in enumerate(modes):
        if _may_be_one(mode, new) and distance(model, new.position, mode) < SAME_MODE:
            return number
    return None


def distance(model: Model, position: np.ndarray, mode: Mode) -> float:
    """How far the nearest relabelling of a position is from the mode, in standard deviations."""
    nearest = relabelled(model, position[None], label_order(model, position[None], mode.position))
    return float(np.nan_to_num(mode.gaussian.distances(nearest), nan=np.inf)[0])


def worth_keeping(model: Model, modes: Sequence[Mode]) -> list[Mode]:
    """The converged modes near the best one, by evidence; if none converged, the best of the others."""
    if not modes:
        return []
    converged = [mode for mode in modes if mode.is_converged]
    ranked = by_evidence(converged or modes)
    lowest = bare_log_evidence(ranked[0]) - HOPELESS - np.log(num_images(model))
    hopeful = [mode for mode in ranked if bare_log_evidence(mode) >= lowest]  # images take a while to count
    evidences = np.array([log_evidence(model, mode) for mode in hopeful])
    order = np.argsort(-evidences, kind="stable")
    kept = [hopeful[number] for number in order if evidences[number] >= evidences.max() - HOPELESS]
    return kept if converged else kept[:1]


def by_evidence(modes: Sequence[Mode]) -> list[Mode]:
    """The modes by the evidence of each alone, the best first."""
    return sorted(modes, key=bare_log_evidence, reverse=True)


def bare_log_evidence(mode: Mode) -> float:
    """Laplace's approximation to the evidence of a mode without its relabelled images."""
    return mode.log_posterior + mode.gaussian.log_volume


def log_evidence(model: Model, mode: Mode) -> float:
    """Laplace's approximation to the evidence of a mode and its relabelled images."""
    log_images = np.log(num_images(model) / _num_coinciding(model, mode))
    return bare_log_evidence(mode) + float(log_images)


def _may_be_one(one: Mode, other: Mode) -> bool:
    """Without a look at their images. An ascent that has not converged is no mode, so it is none of the others."""
    is_as_high = abs(one.log_posterior - other.log_posterior) < OTHER_HEIGHT
    return one.is_converged and other.is_converged and is_as_high


def _num_coinciding(model: Model, mode: Mode) -> int:
    """Relabellings that lead back to the mode: those among equal components, which are not counted again."""
    pairs = list(combinations(range(model.num_labels), 2))
    if not pairs:
        return 1
    orders = np.tile(np.arange(model.num_labels), (len(pairs), 1))
    for order, (one, other) in zip(orders, pairs, strict=True):
        order[[one, other]] = other, one
    swapped = reordered(model, np.tile(mode.position, (len(pairs), 1)), orders)
    groups = np.arange(model.num_labels)
    for (one, other), far in zip(pairs, mode.gaussian.distances(swapped), strict=True):
        if far < SAME_MODE:
            groups[groups == groups[other]] = groups[one]
    return int(np.prod([factorial(int(size)) for size in np.bincount(groups)]))
