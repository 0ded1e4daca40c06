"""A few rows that say of the particles what all rows say: a sample of them with calibrated weights.

Moves that see all rows cost as much as there are rows. A plain sample is too noisy to stand for them, by nats. But all
that a move needs to know is how the log-likelihood differs from one point of the posterior to another, and there are
few ways in which it does: so the weights of a sample are shifted, as little as possible, until its weighted sum agrees
with that of all rows at some hundred positions of the posterior. At others it then agrees to a tenth of a nat or so.
No expansion is involved, so that it holds where a posterior is far from Gaussian. What it leaves is put right by a last
weighing on all rows.

Survey statisticians calibrate weights to known totals (Deville and Särndal 1992); Bayesian coresets (Campbell and
Broderick 2018; Naik, Rousseau and Campbell 2022) are chosen in the same space of log-likelihoods.
"""

from functools import partial
from typing import NamedTuple

import jax
import numpy as np

from sgais.compute.blocks import SLAB_ROWS, Blocks, pack, slabs
from sgais.compute.likelihood import log_likelihoods, pointwise
from sgais.compute.parallel import in_groups
from sgais.estimators.default import policy
from sgais.fields import Chunk, num_rows
from sgais.models.base import Model, real_dtype

BLOCK_ROWS = 64  # as in moves on few rows, so that one compiled program serves both


class AllRows(NamedTuple):
    """Rows, and how much each of them counts."""

    rows: Chunk
    counts: np.ndarray

    def log_likelihoods(self, model: Model, positions: np.ndarray) -> np.ndarray:
        """The weighted sum of the rows' log-likelihoods at each position."""
        return log_likelihoods(model, positions, slabs(self.rows, counts=self.counts))


class Sketch(NamedTuple):
    """A calibrated sample.

    Attributes:
        data: The rows and their weights.
        offset: What their log-likelihood lacks at the positions at which it was calibrated.
    """

    data: Blocks
    offset: float

    def lacks(self, model: Model, positions: np.ndarray, of_all: AllRows) -> np.ndarray:
        """What the log-likelihood of all rows has beyond that of the sketch at each position."""
        return of_all.log_likelihoods(model, positions) - log_likelihoods(model, positions, [self.data])


def sketch(model: Model, positions: np.ndarray, of_all: AllRows, generator: np.random.Generator) -> Sketch | None:
    """A sample that agrees with all rows at positions (n, d) and others like them.

    None where rows are few enough for all of them to be seen, or positions too few to say what matters, or where the
    model fails, or where no sample will do, as while rows of one kind alone have come.
    """
    known = np.unique(positions, axis=0)
    if num_rows(of_all.rows) <= policy.SKETCHED_ROWS or len(known) < 2 * model.dimension:
        return None
    probes = np.concatenate([known, _more_like(known, generator)]).astype(real_dtype())
    totals = of_all.log_likelihoods(model, probes)
    size = int(np.clip(policy.SKETCH_SHARE * num_rows(of_all.rows), policy.SMALLEST_SKETCH, policy.LARGEST_SKETCH))
    chosen = generator.choice(num_rows(of_all.rows), size, replace=False)
    sample = {name: values[chosen] for name, values in of_all.rows.items()}
    values = _values(model, probes, sample)
    usable = np.isfinite(totals) & np.isfinite(values).all(axis=1)
    if not usable[: len(known)].all():
        return None
    usable &= totals > totals[: len(known)].min() - policy.SKETCH_HOPELESS
    start = of_all.counts[chosen] * num_rows(of_all.rows) / size
    weights = calibrated(values[usable], totals[usable], start)
    if -weights[weights < 0].sum() > policy.LARGEST_NEGATIVE_SHARE * weights.sum():
        return None
    data = pack(sample, SLAB_ROWS, BLOCK_ROWS, weights)
    lacks = totals[usable] - log_likelihoods(model, probes[usable], [data])
    return Sketch(data, float(np.mean(lacks)))


def calibrated(values: np.ndarray, totals: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The nearest weights under which values (positions, rows) add up to the totals, but for a constant."""
    centred, wanted = values - values.mean(axis=0), totals - totals.mean()
    gram = centred @ centred.T
    ridge = policy.SKETCH_RIDGE * np.trace(gram) / len(gram)
    return weights + centred.T @ np.linalg.solve(gram + ridge * np.eye(len(gram)), wanted - centred @ weights)


def _more_like(known: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """More positions of the same kind, where they are few: shifted by the difference of two others."""
    count = max(policy.SKETCH_POSITIONS - len(known), 0)
    one, other, origin = generator.integers(len(known), size=(3, count))
    strides = generator.uniform(*policy.SKETCH_STRIDES, size=(count, 1))
    return known[origin] + strides * (known[one] - known[other])


def _values(model: Model, positions: np.ndarray, rows: Chunk) -> np.ndarray:
    """The log-likelihood of each row at each position, shape (positions, rows)."""
    blocks = pack(rows, policy.LARGEST_SKETCH)
    found = in_groups(lambda some: _pointwise(model, some, blocks), positions, fill=True)
    return np.asarray(found, np.float64)[:, : num_rows(rows)]


@partial(jax.jit, static_argnames="model")
def _pointwise(model: Model, positions: jax.Array, blocks: Blocks) -> jax.Array:
    return pointwise(model, positions, blocks)
