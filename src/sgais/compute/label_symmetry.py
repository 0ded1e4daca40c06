"""Positions that a model cannot tell apart: relabelled components of a mixture.

A model names its exchangeable parameters; every order of their leading axis, the same for all of them, has the same
prior and likelihood. In R^d a relabelling T is not a permutation (weights on the simplex have no symmetric
coordinates), but its Jacobian is known: the prior is invariant, so p(Tx) |T'(x)| = p(x).
"""

from collections.abc import Mapping
from functools import partial
from itertools import permutations
from math import factorial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from sgais.compute.parallel import in_groups
from sgais.compute.positions import constrain, unconstrain
from sgais.models.base import Model, Parameters, real_dtype

NUM_DRAWS = 512  # of the Gaussian that tells whether labels overlap
RELATIVE_ROUNDING = 1e-5
LEAST_SPREAD = 0.1  # of the spread over labels, as the unit of a feature that does not vary from position to position
SHARE_IN_ORDER = 0.95  # of them, above which labels are told apart, unless told otherwise


def num_images(model: Model) -> int:
    """The number of positions that are one for the model: the factorial of the number of labels."""
    return factorial(model.num_labels)


class LabelOrder(NamedTuple):
    """A rule that gives every position one order of its labels: the one nearest to a reference.

    Near in the exchangeable parameters, each in units of its spread from position to position.

    Attributes:
        reference: The exchangeable parameters of the reference, shape (labels, numbers per label), scaled.
        scales: The unit of each number, shape (numbers per label,).
    """

    reference: np.ndarray | jax.Array
    scales: np.ndarray | jax.Array


def label_order(model: Model, positions: np.ndarray, reference: np.ndarray) -> LabelOrder | None:
    """The order of a reference position (d,), in units of the spread of positions (n, d); None without labels."""
    if model.num_labels == 1:
        return None
    features = _features(model, constrain(model, np.concatenate([reference[None], positions])))
    scales = _spreads(features)
    return LabelOrder(np.nan_to_num(features[0] / scales), scales)


def _spreads(features: np.ndarray) -> np.ndarray:
    """How much each feature varies from position to position when its labels are put in order by itself.

    What tells labels apart has a small spread and counts for much. In units of the spread over labels, where means lie
    far apart, it would count no more than weights that are alike, whose noise would decide the order.
    """
    # Where all labels have one value, the rounding of it is no spread.
    rounding = np.maximum(RELATIVE_ROUNDING * np.abs(features).max(axis=(0, 1)), np.finfo(np.float32).tiny)
    over_labels = features.std(axis=(0, 1))
    over_positions = np.sqrt(np.sort(features, axis=1).var(axis=0).mean(axis=0))
    return np.maximum(np.maximum(over_positions, LEAST_SPREAD * over_labels), rounding)


def arranged(
    model: Model,
    positions: np.ndarray,
    reference: np.ndarray,
    generator: np.random.Generator,
    share_in_order: float = SHARE_IN_ORDER,
) -> tuple[np.ndarray, LabelOrder | None]:
    """Positions with their labels in one order, if that tells them apart, else in random order.

    The order is that of the mean of all positions, once they have been put in the order of a reference among them.

    In one order, positions have a common shape, which moves can be fitted to; but then the moves have to keep to it,
    and where labels overlap this would hold most of them back. To cross over to another order unchecked would bias the
    moves: they are fitted to this one.
    """
    order = label_order(model, positions, reference)
    if order is None:
        return positions, None
    features = _features(model, constrain(model, relabelled(model, positions, order)))
    order = order._replace(reference=np.nan_to_num(features / order.scales).mean(axis=0))
    ordered = relabelled(model, positions, order)
    if _share_in_order(model, ordered, order, generator) > share_in_order:
        return ordered, order
    at_random = generator.permuted(np.tile(np.arange(model.num_labels), (len(positions), 1)), axis=1)
    return reordered(model, positions, at_random), None


def relabelled(model: Model, positions: np.ndarray, order: LabelOrder | None) -> np.ndarray:
    """Positions (n, d) with their labels in a given order."""
    return positions if order is None else reordered(model, positions, nearest_orders(model, positions, order))


def nearest_orders(model: Model, positions: np.ndarray, order: LabelOrder) -> np.ndarray:
    """By which the labels of each position come into the given order, shape (n, labels): an assignment problem each."""
    features = np.nan_to_num(_features(model, constrain(model, positions)) / order.scales)
    costs = ((features[:, :, None] - order.reference) ** 2).sum(axis=-1)  # of giving old label k the new label l
    from scipy.optimize import linear_sum_assignment  # slow to import, and few models need it

    return np.array([np.argsort(linear_sum_assignment(cost)[1]) for cost in costs])


def is_in_order(model: Model, positions: jax.Array, order: LabelOrder) -> jax.Array:
    """Whether the labels of positions (n, d) are in a given order already.

    No other order is nearer if no cycle of labels would gain by passing their places on: if the graph of what each
    label would pay for another's place has no cycle of negative length.
    """
    features = _features(model, jax.vmap(model.constrain)(positions)) / order.scales
    costs = jnp.sum((features[:, :, None] - order.reference) ** 2, axis=-1)
    own = jnp.diagonal(costs, axis1=1, axis2=2)[:, :, None]
    # Compiled, a number minus itself need not be zero: it may be found twice, and rounded otherwise.
    lengths = jnp.where(jnp.eye(model.num_labels, dtype=bool), 0.0, costs - own)
    for via in range(model.num_labels):  # Floyd and Warshall's shortest paths
        lengths = jnp.minimum(lengths, lengths[:, :, via, None] + lengths[:, via, None, :])
    return (jnp.diagonal(lengths, axis1=1, axis2=2) >= 0).all(axis=1)


def are_in_order(model: Model, positions: np.ndarray, order: LabelOrder) -> np.ndarray:
    """The same for positions of the host."""
    found = in_groups(lambda some: _is_in_order(model, some, order), positions.astype(real_dtype()), fill=True)
    return np.asarray(found)


def _share_in_order(model: Model, ordered: np.ndarray, order: LabelOrder, generator: np.random.Generator) -> float:
    """How much of a Gaussian of the shape of these positions keeps to their order, too."""
    covariance = np.cov(ordered, rowvar=False)
    draws = generator.multivariate_normal(ordered.mean(axis=0), covariance, NUM_DRAWS, method="eigh")
    return float(np.mean(are_in_order(model, draws, order)))


def reordered(model: Model, positions: np.ndarray, orders: np.ndarray) -> np.ndarray:
    """Each position (n, d) with its labels in an order of its own; orders have shape (n, labels)."""
    changed = np.flatnonzero((orders != np.arange(model.num_labels)).any(axis=1))
    if len(changed) == 0:
        return positions
    chosen = constrain(model, positions[changed])
    rows = np.arange(len(changed))[:, None]
    ordered = {name: chosen[name][rows, orders[changed]] for name in model.exchangeable}
    moved = positions.copy()  # whoever keeps his labels keeps all his digits
    moved[changed] = unconstrain(model, chosen | ordered)
    return np.where(np.isfinite(moved), moved, positions)


@partial(jax.jit, static_argnames="model")
def images(model: Model, positions: jax.Array) -> jax.Array:
    """Every position under every relabelling, itself first, shape (positions, images, d)."""
    if model.num_labels == 1:
        return positions[:, None]
    others = jnp.asarray(list(permutations(range(model.num_labels))))[1:]

    def relabelled(position: jax.Array) -> jax.Array:
        parameters = model.constrain(position)

        def in_order(order: jax.Array) -> jax.Array:
            changed: Parameters = {name: parameters[name][order] for name in model.exchangeable}
            return model.unconstrain(parameters | changed)

        # The position itself is not sent there and back: it keeps all its digits.
        return jnp.concatenate([position[None], jax.vmap(in_order)(others)])

    return jax.vmap(relabelled)(positions)


def _features(model: Model, parameters: Mapping[str, Any]) -> Any:
    """What tells the labels apart, shape (positions, labels, numbers per label); of either kind of arrays."""
    values = [parameters[name] for name in model.exchangeable]
    concatenate = np.concatenate if isinstance(values[0], np.ndarray) else jnp.concatenate
    return concatenate([value.reshape(*value.shape[:2], -1) for value in values], axis=2)


@partial(jax.jit, static_argnames="model")
def _is_in_order(model: Model, positions: jax.Array, order: LabelOrder) -> jax.Array:
    return is_in_order(model, positions, order)
