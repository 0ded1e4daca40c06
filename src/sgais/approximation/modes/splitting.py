"""Other arrangements of a mode's exchangeable components, at which to begin a search for a better mode.

Ascents from scratch often end with one component on two clusters and two on another: all that is missing is to take a
component away where it is least needed and put it where one does the work of two. No pair is known to be the right
one, so they are tried in random order.
"""

import numpy as np

from sgais.compute.positions import constrain, unconstrain
from sgais.models.base import Model, real_dtype

SWAP_SHARE = 0.2  # of the perturbations that exchange one parameter of two components
JITTERS = (0.1, 0.3, 1.0)  # of a split, in units of the components' spread


def perturbed(model: Model, position: np.ndarray, count: int, generator: np.random.Generator) -> np.ndarray:
    """At most `count` perturbations of a position, shape (perturbations, d); none where labels mean something."""
    pairs = [(i, j) for i in range(model.num_labels) for j in range(model.num_labels) if i != j]
    generator.shuffle(pairs)
    chosen = [pairs[number % len(pairs)] for number in range(min(count, 2 * len(pairs)))]
    if not chosen:
        return np.zeros((0, model.dimension))
    parameters = {name: values[0] for name, values in constrain(model, position[None]).items()}
    is_swap = (generator.random(len(chosen)) < SWAP_SHARE) & (len(model.exchangeable) > 1)
    changed = [
        _swapped(model, parameters, *pair, generator) if swap else _split(model, parameters, *pair)
        for pair, swap in zip(chosen, is_swap, strict=True)
    ]
    together = {name: np.stack([one[name] for one in changed]).astype(real_dtype()) for name in model.prior}
    positions = unconstrain(model, together).astype(np.float64)
    for at, pair, swap in zip(positions, chosen, is_swap, strict=True):
        if not swap:
            _move_apart(model, at, *pair, generator)
    return positions[np.isfinite(positions).all(axis=1)]


def _split(model: Model, parameters: dict[str, np.ndarray], gone: int, split: int) -> dict[str, np.ndarray]:
    """One component taken away, and another one twice."""
    changed = {name: np.array(values) for name, values in parameters.items()}
    for name in model.exchangeable:
        values = changed[name]
        values[gone] = values[split]
        if _is_simplex(model, name):
            values[[gone, split]] /= 2
            values /= values.sum(axis=0)
    return changed


def _swapped(
    model: Model, parameters: dict[str, np.ndarray], one: int, other: int, generator: np.random.Generator
) -> dict[str, np.ndarray]:
    """Two components that have exchanged one of their parameters."""
    changed = {name: np.array(values) for name, values in parameters.items()}
    values = changed[model.exchangeable[generator.integers(len(model.exchangeable))]]
    values[[one, other]] = values[[other, one]]
    return changed


def _move_apart(model: Model, position: np.ndarray, one: int, other: int, generator: np.random.Generator) -> None:
    """Shift two equal components to either side of where they are, in place."""
    size = generator.choice(JITTERS)
    for name in model.exchangeable:
        if not _is_simplex(model, name):
            place, shape = model.layout[name]
            values = position[place].reshape(shape)
            step = size * values.std(axis=0) * generator.normal(size=shape[1:])
            values[one], values[other] = values[one] + step, values[other] - step
            position[place] = values.ravel()


def _is_simplex(model: Model, name: str) -> bool:
    """Whether the labels share a fixed amount: they have a coordinate less than there are labels."""
    return model.layout[name].shape[:1] != (model.num_labels,)
