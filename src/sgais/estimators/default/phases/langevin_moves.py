"""One Langevin move on mini-batches in whitened coordinates, whichever way a phase whitens and draws its batches."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from sgais.compute import gradients
from sgais.compute.random_keys import jax_key
from sgais.estimators.default.context import UpdateContext
from sgais.kernels import Langevin, langevin
from sgais.models.base import Model, Rows, real_dtype


class Whitening(NamedTuple):
    """Coordinates in which the posterior is near a standard Gaussian: position = origin + matrix @ whitened.

    Attributes:
        origin: Shape (d,), or (particles, d) where each particle has its own.
        matrix: Shape (d, d), or (particles, d, d).
    """

    origin: Any
    matrix: Any

    def positions(self, whitened: Any) -> Any:
        """Where whitened particles are; by NumPy on the host, by JAX in a compiled function."""
        if self.matrix.ndim == 2:
            return self.origin + whitened @ self.matrix.T
        numerics = np if isinstance(whitened, np.ndarray) else jnp
        return self.origin + numerics.einsum("nij,nj->ni", self.matrix, whitened)

    def gradients(self, found: jax.Array) -> jax.Array:
        """Gradients by position as gradients by whitened coordinates."""
        return found @ self.matrix if self.matrix.ndim == 2 else jnp.einsum("nij,ni->nj", self.matrix, found)

    def on_device(self) -> "Whitening":
        """In the device's numbers."""
        return Whitening(self.origin.astype(real_dtype()), self.matrix.astype(real_dtype()))


class Batches(NamedTuple):
    """Mini-batches for each step of a move, two halves each.

    Attributes:
        rows: Columns with leading axes (steps + 1, 2, half a batch).
        weights: How many rows each row stands for: one number for a half, or one for each of its rows.
    """

    rows: Rows
    weights: Any


def move(
    context: UpdateContext,
    whitened: np.ndarray,
    whitening: Whitening,
    anchors: gradients.Anchors,
    batches: Batches,
    step_size: float,
) -> tuple[np.ndarray, langevin.Info]:
    """Move particles from their whitened coordinates, with gradients relative to anchors; returns positions."""
    moved, info = _compiled(
        context.model,
        context.config.kernel,
        context.keys.next(),
        whitened.astype(real_dtype()),
        whitening.on_device(),
        anchors,
        batches,
        step_size,
    )
    return whitening.positions(np.asarray(moved, np.float64)), jax.device_get(info)


@partial(jax.jit, static_argnames=("model", "kernel"))
def _compiled(
    model: Model,
    kernel: Langevin,
    key: jax.Array,
    whitened: jax.Array,
    whitening: Whitening,
    anchors: gradients.Anchors,
    batches: Batches,
    step_size: float,
) -> tuple[jax.Array, langevin.Info]:
    def gradient(whitened: jax.Array, half: Batches) -> jax.Array:
        found = gradients.control_variate(model, whitening.positions(whitened), anchors, half.rows, half.weights)
        return whitening.gradients(found)

    return langevin.move(jax_key(key), whitened, gradient, batches, step_size, kernel)
