"""The modes of a posterior: many ascents on few rows, then a few on all of them."""

from collections.abc import Iterator, Sequence

import numpy as np

from sgais.estimators.deadline import Deadline
from sgais.estimators.newton import Mode, climb
from sgais.estimators.particles import sample_prior
from sgais.estimators.posterior import Posterior
from sgais.model import Model, real_dtype
from sgais.symmetry import images, num_images

FIRST_BLOCKS = 2  # on which starts are screened and refined: about a thousand rows
GROWTH = 32  # of the number of blocks from one level to the next
CANDIDATES = (
    256,
    64,
    16,
    4,
    1,
)  # for a start, in turn: the best of many lies near a high mode, the best of few anywhere
SAME_MODE = 0.5  # posterior standard deviations
HOPELESS = 30.0  # nats below the best
STARTS = 0  # the purpose of random numbers


def search(
    posterior: Posterior, num_starts: int, max_rounds: int, max_steps: int, seed: int, deadline: Deadline
) -> Iterator[Mode]:
    """The modes on all rows one by one, the probably best first, without those that are hopelessly lower.

    The rows are assumed to be in random order: the first of them stand for all. Modes that differ on few rows may
    turn out to be one on all of them: `merge` tells.

    Args:
        posterior: Of all rows.
        num_starts: Ascents per round.
        max_rounds: Rounds of starts, of which there are more while the best mode was found only once: what
            was found twice was probably not missed by luck.
        max_steps: Newton steps per ascent.
        seed: Determines the starts.
        deadline: When to give up.
    """
    levels = _levels(posterior.num_blocks)
    few_rows = posterior.of_first(levels[0])
    modes: list[Mode] = []
    for start in range(num_starts * max_rounds):
        if start % num_starts == 0 and modes and _by_evidence(posterior.model, modes)[0].num_starts > 1:
            break
        mode = climb(few_rows, _start(few_rows, seed, start), max_steps, deadline)
        modes = merge(posterior.model, modes, mode)
    for level in levels[1:-1]:
        modes = _refine(posterior.of_first(level), modes, max_steps, deadline)
    modes = worth_keeping(posterior.model, modes)
    if len(levels) == 1:
        yield from modes
        return
    for mode in modes:
        yield _again(posterior, mode, max_steps, deadline)


def merge(model: Model, modes: Sequence[Mode], new: Mode) -> list[Mode]:
    """The modes and a new one, which may be one of them or a relabelled image of it."""
    merged, is_known = [], False
    new_images = _images(model, new.position)
    for mode in modes:
        if not is_known and mode.gaussian.distances(new_images).min() < SAME_MODE:
            is_known = True
            higher = max(mode, new, key=lambda one: (one.is_converged, one.log_posterior))
            higher = higher._replace(
                num_starts=mode.num_starts + new.num_starts, num_steps=mode.num_steps + new.num_steps
            )
            merged.append(higher)
        else:
            merged.append(mode)
    return merged if is_known else [*merged, new]


def worth_keeping(model: Model, modes: Sequence[Mode]) -> list[Mode]:
    """The converged modes near the best one, by evidence; if none converged, the best of the others."""
    converged = [mode for mode in modes if mode.is_converged]
    ranked = _by_evidence(model, converged or modes)
    best = log_evidence(model, ranked[0])
    kept = [mode for mode in ranked if log_evidence(model, mode) >= best - HOPELESS]
    return kept if converged else kept[:1]


def log_evidence(model: Model, mode: Mode) -> float:
    """Laplace's approximation to the evidence of a mode and its relabelled images."""
    # A mode with equal components is its own image under some relabellings, which are not counted again.
    coinciding = int(np.sum(mode.gaussian.distances(_images(model, mode.position)) < SAME_MODE))
    return mode.log_posterior + mode.gaussian.log_volume + float(np.log(num_images(model) / max(coinciding, 1)))


def _by_evidence(model: Model, modes: Sequence[Mode]) -> list[Mode]:
    return sorted(modes, key=lambda mode: log_evidence(model, mode), reverse=True)


def _refine(posterior: Posterior, modes: Sequence[Mode], max_steps: int, deadline: Deadline) -> list[Mode]:
    refined: list[Mode] = []
    for mode in worth_keeping(posterior.model, modes):
        refined = merge(posterior.model, refined, _again(posterior, mode, max_steps, deadline))
    return refined


def _again(posterior: Posterior, mode: Mode, max_steps: int, deadline: Deadline) -> Mode:
    found = climb(posterior, mode.position, max_steps, deadline)
    return found._replace(num_starts=mode.num_starts, num_steps=mode.num_steps + found.num_steps)


def _levels(num_blocks: int) -> list[int]:
    """Numbers of blocks that grow to all of them."""
    levels = [FIRST_BLOCKS]
    while levels[-1] * GROWTH < num_blocks:
        levels.append(levels[-1] * GROWTH)
    return [*levels, num_blocks] if num_blocks > FIRST_BLOCKS else [num_blocks]


def _start(posterior: Posterior, seed: int, start: int) -> np.ndarray:
    """The best of some draws from the prior, of its own for every start: so that starts are independent."""
    candidates = sample_prior(posterior.model, CANDIDATES[start % len(CANDIDATES)], seed, STARTS, start)
    return candidates[np.argmax(posterior.log_densities(candidates))].astype(np.float64)


def _images(model: Model, position: np.ndarray) -> np.ndarray:
    return np.asarray(images(model, position[None].astype(real_dtype())), np.float64)[0]
