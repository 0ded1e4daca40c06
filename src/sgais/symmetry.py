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

from sgais.model import Model, Parameters


def num_images(model: Model) -> int:
    """The number of positions that are one for the model: the factorial of the number of labels."""
    return factorial(model.num_labels)


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
