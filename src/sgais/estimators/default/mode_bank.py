"""The bank of modes: every mode that may matter is known, whether particles sit there or not.

Particles find the modes that are there while rows are few; others appear later, or gain on the rest as rows come, when
no particle is near. So modes are searched for: from the particles, from the prior, from the model's own guesses at
rows, and by rearranging exchangeable components (`mode_search`).
"""

from collections.abc import Sequence

import numpy as np

from sgais.approximation.gaussian import Gaussian, of_positions
from sgais.approximation.log_posterior import Posterior
from sgais.approximation.modes.merging import find, log_evidence
from sgais.approximation.modes.mode_search import search
from sgais.approximation.modes.newton import Mode, climb_all
from sgais.approximation.modes.unseen_modes import Found
from sgais.compute.label_symmetry import LabelOrder, label_order, nearest_orders, relabelled, reordered
from sgais.compute.likelihood import slabs_for_derivatives
from sgais.compute.random_keys import KeySequence
from sgais.estimators.default import policy
from sgais.fields import Chunk, num_rows
from sgais.history import RowView
from sgais.models.base import Model
from sgais.progress import Deadline


def posterior_of(model: Model, rows: Chunk, generator: np.random.Generator) -> Posterior:
    """The posterior of rows in random order, so that the first of them stand for all."""
    order = generator.permutation(num_rows(rows))
    return Posterior(model, slabs_for_derivatives(model, {name: values[order] for name, values in rows.items()}))


def look_for_modes(
    posterior: Posterior, positions: np.ndarray, known: np.ndarray, seed: int, is_thorough: bool
) -> Found:
    """The modes of a posterior.

    Args:
        posterior: Of rows in random order.
        positions: Particles; some of them are climbed from.
        known: Modes on fewer rows, shape (modes, d), which are climbed from, too.
        seed: Determines the searches.
        is_thorough: Whether searches begin elsewhere as well.
    """
    highest = positions[np.argsort(-posterior.log_densities(positions))[: policy.MOST_GIVEN // 2]]
    others = positions[:: max(1, len(positions) // (policy.MOST_GIVEN // 2))][: policy.MOST_GIVEN // 2]
    limits = policy.WITH_LABELS if posterior.model.num_labels > 1 else policy.WITHOUT_LABELS
    limits = limits if is_thorough else limits._replace(max_rounds=0)
    return search(posterior, limits, seed, Deadline(None), given=list(np.concatenate([known, highest, others])))


def positions_of(model: Model, found: Found) -> np.ndarray:
    """The positions of the modes that have converged, shape (modes, d)."""
    return np.array([mode.position for mode in found.modes if mode.is_converged]).reshape(-1, model.dimension)


def in_labelling(posterior: Posterior, found: Found, order: LabelOrder | None) -> list[tuple[Gaussian, float]]:
    """The modes that have converged in a given order of labels, with their log evidences, the best first.

    In R^d a relabelled mode is one only nearly, so it is climbed to again.
    """
    converged = [
        (mode, float(evidence))
        for mode, evidence in zip(found.modes, found.log_evidences, strict=True)
        if mode.is_converged
    ]
    if order is None or not converged:
        return [(mode.gaussian, evidence) for mode, evidence in converged]
    positions = relabelled(posterior.model, np.array([mode.position for mode, _ in converged]), order)
    again = climb_all(posterior, positions, policy.NEWTON_STEPS, Deadline(None))
    return [(new.gaussian, evidence) for new, (_, evidence) in zip(again, converged, strict=True) if new.is_converged]


def images_in_order(
    model: Model, mode: tuple[Gaussian, float], order: LabelOrder, generator: np.random.Generator
) -> list[tuple[Gaussian, float]]:
    """What an order of labels keeps of a mode and of its images, with the log evidence of each.

    The order is that of the particles. Another mode may lie across its border, and what is beyond comes back as the
    edge of another image.
    """
    gaussian, log_evidence = mode
    draws = gaussian.unwhiten(generator.standard_normal((policy.IMAGE_DRAWS, model.dimension)))
    orders, counts = np.unique(nearest_orders(model, draws, order), axis=0, return_counts=True)
    images: list[tuple[Gaussian, float]] = []
    for labels, share in zip(orders, counts / policy.IMAGE_DRAWS, strict=True):
        stays = (labels == np.arange(model.num_labels)).all()
        image = gaussian if stays else of_positions(reordered(model, draws, np.tile(labels, (policy.IMAGE_DRAWS, 1))))
        if share > policy.SMALLEST_IMAGE and image is not None:
            images.append((image, log_evidence + float(np.log(share))))
    return images


def worth_a_surrogate(posterior: Posterior, found: Found) -> np.ndarray:
    """The positions of the modes that matter, in the labelling nearest to the best, shape (modes, d)."""
    model, positions = posterior.model, positions_of(posterior.model, found)
    if len(positions) == 0:
        return positions
    modes = in_labelling(posterior, found, label_order(model, positions, positions[0]))
    kept = [gaussian.centre for gaussian, evidence in modes if evidence > modes[0][1] - policy.MATTERS]
    return np.array(kept[: policy.MOST_KEPT]).reshape(-1, model.dimension)


def alike(model: Model, positions: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Positions (n, d) in the labelling nearest to a reference."""
    return relabelled(model, positions, label_order(model, positions, reference))


def new_modes(model: Model, known: np.ndarray, rows: RowView, end: int, keys: KeySequence) -> np.ndarray:
    """The positions of modes on all rows that may matter beside the known ones, shape (modes, d).

    They are searched for on a sample of the rows; what is hopeless there, or on a larger one, is not looked at again.
    """
    generator = keys.generator()
    limits = policy.WITH_LABELS if model.num_labels > 1 else policy.WITHOUT_LABELS
    candidates = known
    for level, size in enumerate(policy.SEARCH_SAMPLES):
        posterior = posterior_of(model, rows.sample(generator, size, 0, end), generator)
        there = climb_all(posterior, known, policy.NEWTON_STEPS, Deadline(None))
        if level == 0:
            found: Sequence[Mode] = search(posterior, limits, keys.seed, Deadline(None), given=list(known)).modes
        else:
            found = climb_all(posterior, candidates, policy.NEWTON_STEPS, Deadline(None))
        candidates = _others(model, there, found)
        if len(candidates) == 0 or size >= end:
            return candidates
    posterior = posterior_of(model, rows.between(0, end), generator)
    found = climb_all(posterior, candidates, policy.NEWTON_STEPS, Deadline(None))
    return _others(model, climb_all(posterior, known, policy.NEWTON_STEPS, Deadline(None)), found)


def _others(model: Model, known: Sequence[Mode], found: Sequence[Mode]) -> np.ndarray:
    """The positions of those that are not known and not hopeless beside them, the best first."""
    best = max((log_evidence(model, mode) for mode in known if mode.is_converged), default=-np.inf)
    others: list[Mode] = []
    for mode in sorted(found, key=lambda one: one.log_posterior, reverse=True):
        is_new = mode.is_converged and find(model, [*known, *others], mode) is None
        if is_new and log_evidence(model, mode) > best - policy.SEARCH_HOPELESS:
            others.append(mode)
    return np.array([mode.position for mode in others[: policy.MOST_NEW]]).reshape(-1, model.dimension)
