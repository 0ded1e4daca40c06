"""Positions that a model cannot tell apart: relabelled components of a mixture.

A model names its exchangeable parameters; every order of their leading axis, the same for all of them, has the same
prior and likelihood. In R^d a relabelling T is not a permutation (weights on the simplex have no symmetric
coordinates), but its Jacobian is known: the prior is invariant, so p(Tx) |T'(x)| = p(x).
"""

from functools import partial
from itertools import permutations
from math import factorial

import jax
import jax.numpy as jnp
import numpy as np

from sgais.model import Model, Parameters, real_dtype

BATCH = 128


def num_images(model: Model) -> int:
    """The number of positions that are one for the model: the factorial of the number of labels."""
    return factorial(model.num_labels)


def relabelled(model: Model, positions: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Positions (n, d) with their labels in the order that brings them nearest to a reference position (d,).

    Near in the exchangeable parameters, each in units of its spread: an assignment problem for every position.
    """
    if model.num_labels == 1:
        return positions
    padded = -(-len(positions) // BATCH) * BATCH  # few shapes, few compilations
    both = np.concatenate([reference[None], np.resize(positions, (padded, positions.shape[1]))]).astype(real_dtype())
    parameters = {name: np.asarray(values)[: 1 + len(positions)] for name, values in _constrain(model, both).items()}
    features = np.concatenate(
        [parameters[name].reshape(*parameters[name].shape[:2], -1) for name in model.exchangeable], axis=2
    )
    features = np.nan_to_num(features / np.maximum(features.std(axis=(0, 1)), np.finfo(np.float32).tiny))
    costs = ((features[1:, :, None] - features[0]) ** 2).sum(axis=-1)  # of giving old label k the new label l
    from scipy.optimize import linear_sum_assignment  # slow to import, and few models need it

    orders = np.array([np.argsort(linear_sum_assignment(cost)[1]) for cost in costs])
    changed = np.flatnonzero((orders != np.arange(model.num_labels)).any(axis=1))
    if len(changed) == 0:
        return positions
    chosen = {name: values[1 + changed] for name, values in parameters.items()}
    rows = np.arange(len(changed))[:, None]
    ordered = {name: chosen[name][rows, orders[changed]] for name in model.exchangeable}
    moved = positions.copy()  # whoever keeps his labels keeps all his digits
    moved[changed] = np.asarray(_unconstrain(model, _padded(chosen | ordered, padded)))[: len(changed)]
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


def _padded(parameters: dict[str, np.ndarray], count: int) -> dict[str, np.ndarray]:
    """Repeated to a given number, so that one compiled program serves."""
    return {name: np.resize(values, (count, *values.shape[1:])) for name, values in parameters.items()}


@partial(jax.jit, static_argnames="model")
def _constrain(model: Model, positions: jax.Array) -> Parameters:
    return jax.vmap(model.constrain)(positions)


@partial(jax.jit, static_argnames="model")
def _unconstrain(model: Model, parameters: Parameters) -> jax.Array:
    return jax.vmap(model.unconstrain)(parameters)
