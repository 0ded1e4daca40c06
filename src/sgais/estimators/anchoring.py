"""From particles to modes: an anchor for each, and every particle in the labelling that lies nearest to its anchor."""

from typing import NamedTuple

import numpy as np

from sgais.estimators.deadline import Deadline
from sgais.estimators.modes import SAME_MODE, log_evidence, merge, search
from sgais.estimators.newton import Mode, climb
from sgais.estimators.posterior import Posterior
from sgais.fields import Chunk
from sgais.likelihood import slabs_for_derivatives
from sgais.model import Model
from sgais.symmetry import label_order, relabelled

MOST_CLIMBS = 16
LOOKS_AROUND = 5  # climbs from elsewhere
FIRST_CLIMBS = 3  # after which most particles should belong to a mode
LARGEST_REST = 0.2
NEWTON_STEPS = 50
REACH = 4.0  # standard deviations beyond the typical distance sqrt(d) at which a particle still belongs to a mode


class Anchored(NamedTuple):
    """Particles sorted by mode.

    Attributes:
        positions: Shape (particles, d); relabelled where that brings a particle nearer to its mode.
        modes: The number of each particle's mode.
        anchors: The modes' positions, shape (modes, d).
    """

    positions: np.ndarray
    modes: np.ndarray
    anchors: np.ndarray


class Search(NamedTuple):
    """What the climbs have found.

    Attributes:
        log_evidence: Laplace's approximation, of all modes found and their relabelled images; -inf if there is none.
        anchored: The particles by mode; None where not every one has a mode.
    """

    log_evidence: float
    anchored: Anchored | None


def anchor(model: Model, positions: np.ndarray, rows: Chunk, seed: int) -> Search:
    """Climb from particle after particle until every one lies near a mode, or there are too many modes.

    Some more climbs begin at draws from the prior. No particle is moved by these: they only tell of modes that all
    particles have left, or that were nothing while rows were fewer.
    """
    posterior = Posterior(model, slabs_for_derivatives(model, rows))
    modes: list[Mode] = []
    anchored = _climbs(posterior, positions, modes)
    for mode in search(posterior, LOOKS_AROUND, 1, NEWTON_STEPS, seed, Deadline(None)):
        modes = merge(model, modes, mode)
    evidences = [log_evidence(model, mode) for mode in modes if mode.is_converged]
    return Search(float(np.logaddexp.reduce([-np.inf, *evidences])), anchored)


def _climbs(posterior: Posterior, positions: np.ndarray, modes: list[Mode]) -> Anchored | None:
    """The particles by mode, or None; the modes on the way are added to the list."""
    model = posterior.model
    heights = posterior.log_densities(positions)
    positions, owners = positions.copy(), np.full(len(positions), -1)
    for number_of_climbs in range(MOST_CLIMBS):
        waiting = np.flatnonzero(owners < 0)
        if len(waiting) == 0:
            return Anchored(positions, owners, np.array([mode.position for mode in modes]))
        if number_of_climbs >= FIRST_CLIMBS and len(waiting) > LARGEST_REST * len(positions):
            return None
        highest = waiting[np.argmax(heights[waiting])]
        mode = climb(posterior, positions[highest], NEWTON_STEPS, Deadline(None))
        if not mode.is_converged:
            return None
        number = _number(model, modes, mode)
        mode = modes[number]
        nearest, distances = _nearest_images(model, positions[waiting], mode)
        belongs = distances < np.sqrt(model.dimension) + REACH
        belongs[waiting == highest] = True  # it climbed there, however far it was
        positions[waiting[belongs]] = nearest[belongs]
        owners[waiting[belongs]] = number
    return None


def _number(model: Model, modes: list[Mode], new: Mode) -> int:
    """The number of the mode if it is known, or of a new entry."""
    for number, mode in enumerate(modes):
        if _nearest_images(model, new.position[None], mode)[1][0] < SAME_MODE:
            return number
    modes.append(new)
    return len(modes) - 1


def _nearest_images(model: Model, positions: np.ndarray, mode: Mode) -> tuple[np.ndarray, np.ndarray]:
    """Each position in the labelling nearest to the mode, and its distance in standard deviations."""
    nearest = relabelled(model, positions, label_order(model, positions, mode.position))
    return nearest, np.nan_to_num(mode.gaussian.distances(nearest), nan=np.inf)
