"""A quadratic surrogate of the log posterior in one mode: what the rows seen so far say at an anchor.

The log posterior, its gradient and its Hessian at the anchor are sums over rows, so that a new chunk is added to them
exactly and the past need not be seen again. They give a Gaussian whose normalising constant is known. What the
posterior has beyond it is small and can be estimated from a sample of rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from sgais.approximation.gaussian import Gaussian
from sgais.compute.blocks import Blocks
from sgais.compute.likelihood import change_by_group, derivatives_by_group, slabs_for_derivatives
from sgais.fields import Chunk, num_rows
from sgais.models.base import Model, real_dtype

WELL_CONDITIONED = 100.0  # largest over least eigenvalue of a scaled precision, up to which float32 keeps its digits


@dataclass(frozen=True, eq=False)
class Surrogate:
    """The log posterior, not normalised, at an anchor: float64, summed over the prior and all rows so far.

    Attributes:
        anchor: The position, shape (d,), in numbers that the device can hold.
        value: Log density.
        gradient: Shape (d,).
        hessian: Shape (d, d).
        basis: Coordinates in which rows are differentiated, shape (d, d), where float32 would lose digits in others.
    """

    anchor: np.ndarray
    value: float
    gradient: np.ndarray
    hessian: np.ndarray
    basis: np.ndarray | None = None

    @cached_property
    def normalised(self) -> "Normalised | None":
        """The Gaussian that the surrogate is, or None where it has no maximum."""
        precision = -self.hessian
        if not _is_positive_definite(precision):
            return None
        step = np.linalg.solve(precision, self.gradient)
        gaussian = Gaussian(self.anchor + step, precision)
        return Normalised(gaussian, self.value + 0.5 * float(self.gradient @ step) + gaussian.log_volume)

    def values_at(self, positions: np.ndarray) -> np.ndarray:
        """The surrogate's log density at positions (n, d)."""
        steps = positions - self.anchor
        return self.value + steps @ self.gradient + 0.5 * np.sum((steps @ self.hessian) * steps, axis=1)


class Normalised(NamedTuple):
    """A surrogate as a Gaussian times its integral."""

    gaussian: Gaussian
    log_integral: float


def at_anchor(model: Model, position: np.ndarray, basis: np.ndarray | None = None) -> Surrogate:
    """The surrogate of the prior alone."""
    anchor = np.asarray(position, real_dtype())
    value, gradient, hessian = (np.asarray(part, np.float64) for part in _prior_derivatives(model, anchor))
    return Surrogate(anchor.astype(np.float64), float(value), gradient, _symmetric(hessian), basis)


def basis_for(precision: np.ndarray) -> np.ndarray | None:
    """Coordinates that whiten a precision, where its digits would be lost in others."""
    scales = np.sqrt(np.diag(precision))
    if np.linalg.cond(precision / scales / scales[:, None]) < WELL_CONDITIONED:
        return None
    return np.linalg.inv(np.linalg.cholesky(precision).T).astype(real_dtype()).astype(np.float64)


def with_rows(model: Model, surrogate: Surrogate, rows: Sequence[Blocks]) -> Surrogate:
    """The surrogate after more rows, given in slabs."""
    at, basis = surrogate.anchor, surrogate.basis
    value, gradient, hessian = surrogate.value, surrogate.gradient, surrogate.hessian
    anchor, directions = at.astype(real_dtype()), None if basis is None else basis.astype(real_dtype())
    back = None if basis is None else np.linalg.inv(basis)
    for numbers in [_likelihood_derivatives(model, anchor, slab, directions) for slab in rows]:  # all begun at once
        more_value, more_gradient, more_hessian = _unpacked(np.asarray(numbers), len(at))
        if back is not None:
            more_gradient, more_hessian = back.T @ more_gradient, back.T @ more_hessian @ back
        value, gradient, hessian = value + more_value, gradient + more_gradient, hessian + _symmetric(more_hessian)
    return Surrogate(at, value, gradient, hessian, basis)


def without_prior(model: Model, surrogate: Surrogate) -> Surrogate:
    """What the rows alone say at the anchor."""
    prior = at_anchor(model, surrogate.anchor)
    return replace(
        surrogate,
        value=surrogate.value - prior.value,
        gradient=surrogate.gradient - prior.gradient,
        hessian=surrogate.hessian - prior.hessian,
    )


def shifted(model: Model, surrogate: Surrogate, position: np.ndarray, sample: Chunk, total: int) -> Surrogate:
    """The surrogate at another anchor nearby, without all rows.

    Its own quadratic says most of it; what this leaves out, of third order and beyond, comes from a sample of the
    `total` rows, and from the prior.
    """
    anchor = np.asarray(position, real_dtype())
    rows = slabs_for_derivatives(model, sample)  # samples differ in size, programs need not
    step = anchor.astype(np.float64) - surrogate.anchor
    old, new = (with_rows(model, _nothing(at, surrogate.basis), rows) for at in (surrogate.anchor, anchor))
    old_prior, new_prior = at_anchor(model, surrogate.anchor), at_anchor(model, anchor)
    before = surrogate.anchor[None].astype(real_dtype())
    change = sum(np.asarray(_change(model, before, anchor[None], slab)).sum(dtype=np.float64) for slab in rows)
    beyond = change - old.values_at(anchor[None])[0] + old.value
    value = total / num_rows(sample) * float(beyond)
    value += new_prior.value - float(old_prior.values_at(new_prior.anchor[None])[0])
    gradient, hessian = (
        total / num_rows(sample) * of_rows + of_prior
        for of_rows, of_prior in zip(_beyond(old, new, step), _beyond(old_prior, new_prior, step), strict=True)
    )
    return Surrogate(
        new_prior.anchor,
        float(surrogate.values_at(new_prior.anchor[None])[0]) + value,
        surrogate.gradient + surrogate.hessian @ step + gradient,
        surrogate.hessian + hessian,
        surrogate.basis,
    )


def transport(positions: np.ndarray, old: Gaussian, new: Gaussian) -> np.ndarray:
    """Positions under the affine map that takes one Gaussian to the other."""
    return new.unwhiten(old.whiten(positions))


def _nothing(anchor: np.ndarray, basis: np.ndarray | None) -> Surrogate:
    """A sum of no terms."""
    dimension = len(anchor)
    return Surrogate(anchor.astype(np.float64), 0.0, np.zeros(dimension), np.zeros((dimension, dimension)), basis)


def _beyond(old: Surrogate, new: Surrogate, step: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What the old quadratic does not know of the gradient and Hessian at the new anchor."""
    return new.gradient - old.gradient - old.hessian @ step, new.hessian - old.hessian


def _is_positive_definite(matrix: np.ndarray) -> bool:
    if not np.isfinite(matrix).all():
        return False
    try:
        np.linalg.cholesky(matrix)  # faster than eigenvalues
    except np.linalg.LinAlgError:
        return False
    return True


def _symmetric(matrix: np.ndarray) -> np.ndarray:
    return 0.5 * (matrix + matrix.T)


@partial(jax.jit, static_argnames="model")
def _prior_derivatives(model: Model, position: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    return (
        model.log_prior_at(position),
        jax.grad(model.log_prior_at)(position),
        jax.hessian(model.log_prior_at)(position),
    )


@partial(jax.jit, static_argnames="model")
def _likelihood_derivatives(model: Model, position: jax.Array, blocks: Blocks, basis: jax.Array | None) -> jax.Array:
    """Gradient, Hessian and one value per block as one array: it takes a while to fetch each."""
    values, gradients, hessians = derivatives_by_group(model, position, blocks, 1, len(blocks.weights), basis)
    return jnp.concatenate([gradients.ravel(), hessians.ravel(), values])


def _unpacked(numbers: np.ndarray, dimension: int) -> tuple[float, np.ndarray, np.ndarray]:
    """Value, gradient and Hessian of a slab, the values of its blocks added in float64."""
    gradient, hessian, values = np.split(numbers.astype(np.float64), [dimension, dimension + dimension**2])
    return float(values.sum()), gradient, hessian.reshape(dimension, dimension)


@partial(jax.jit, static_argnames="model")
def _change(model: Model, before: jax.Array, after: jax.Array, blocks: Blocks) -> jax.Array:
    return change_by_group(model, before, after, blocks, len(blocks.weights), blocks_per_group=1)
