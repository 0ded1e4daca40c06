"""What float32 costs a log-likelihood, measured at one position on a sample of rows against float64.

A term that is rounded is often so for all rows alike (a constant, the log of a gamma function at small counts), so
that the cost grows with the rows, though each of them lacks but a millionth of a nat. It is nearly the same all over
the posterior: so log Z lacks it, and it can be put right.
"""

from contextlib import AbstractContextManager
from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np

from sgais.compute.blocks import SLAB_ROWS, Blocks, capacity_for, pack
from sgais.compute.likelihood import pointwise
from sgais.fields import Chunk, num_rows
from sgais.models.base import Model, real_dtype

SAMPLE = 4096  # rows
BLIND = 1e-7  # of a log-likelihood: what rounding may cost where the model does not let itself be seen in float64


class Lack(NamedTuple):
    """What a sum over rows lacks in float32, and the error of that."""

    value: float
    error: float


def lack(model: Model, position: np.ndarray, sample: Chunk, total: int) -> Lack:
    """Of the log-likelihood of `total` rows at a position (d,), from a sample of them."""
    if real_dtype() == np.float64:
        return Lack(0.0, 0.0)
    count = num_rows(sample)
    data = pack(sample, max(SLAB_ROWS, capacity_for(count)))
    at = position.astype(np.float32)[None]
    rounded = np.asarray(_pointwise(model, at, data), np.float64)[0, :count]
    try:
        with _double_precision():
            exact = np.asarray(_pointwise(model, *_in_float64((at, data))), np.float64)[0, :count]
    except (TypeError, ValueError):  # the model insists on float32
        return Lack(0.0, BLIND * total * float(np.abs(rounded).mean()))
    differences = (exact - rounded)[np.isfinite(exact) & np.isfinite(rounded)]
    if len(differences) < 2:
        return Lack(0.0, 0.0)
    of_sampling = 0.0 if count == total else float(differences.std()) / np.sqrt(len(differences))
    return Lack(total * float(differences.mean()), total * of_sampling)


def _in_float64(numbers: tuple[np.ndarray, Blocks]) -> tuple[np.ndarray, Blocks]:
    return jax.tree.map(lambda part: part.astype(np.float64) if part.dtype == np.float32 else part, numbers)


def _double_precision() -> AbstractContextManager[None]:
    """For this thread and these lines alone; the user's setting is as it was afterwards."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    from jax.experimental import enable_x64  # type: ignore[attr-defined]  # before JAX 0.9

    return enable_x64()


@partial(jax.jit, static_argnames="model")
def _pointwise(model: Model, positions: Any, blocks: Blocks) -> jax.Array:
    return pointwise(model, positions, blocks)
