"""The log posterior of many rows and its derivatives, in float64 on the host.

At a million rows the total is about -1e6, of which float32 resolves 0.1: the device never forms it. It gives one sum
per block for the density, and one per group of blocks for the derivatives.
"""

from collections.abc import Sequence

import numpy as np

from sgais.blocks import Blocks
from sgais.estimators.surrogate import at_anchor, with_rows
from sgais.likelihood import log_likelihoods
from sgais.model import Model
from sgais.parallel import GROUP
from sgais.positions import log_priors

BATCHES = (8, GROUP)  # positions per call: a line search, and many; a few shapes mean a few compilations


class Posterior:
    """The posterior density, not normalised, of a model on slabs of rows.

    Args:
        model: The model.
        slabs: All rows.
    """

    def __init__(self, model: Model, slabs: Sequence[Blocks]) -> None:
        self.model, self.slabs = model, slabs

    @property
    def num_blocks(self) -> int:
        """How many blocks of rows there are."""
        return int(sum(slab.num_blocks for slab in self.slabs))

    def of_first(self, num_blocks: int) -> "Posterior":
        """The posterior of fewer rows."""
        starts = np.cumsum([0, *(int(slab.num_blocks) for slab in self.slabs)])
        first = [
            slab._replace(num_blocks=np.int32(min(slab.num_blocks, num_blocks - start)))
            for slab, start in zip(self.slabs, starts[:-1], strict=True)
            if start < num_blocks
        ]
        return Posterior(self.model, first)

    def log_densities(self, positions: np.ndarray) -> np.ndarray:
        """The log density at each position, -inf where it is not a number."""
        batch = next((size for size in BATCHES if len(positions) <= size), BATCHES[-1])
        parts = [self._of_batch(positions[start : start + batch], batch) for start in range(0, len(positions), batch)]
        totals = np.concatenate(parts)
        return np.where(np.isnan(totals) | (totals == np.inf), -np.inf, totals)

    def derivatives(self, position: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gradient (d,) and Hessian (d, d) of the log density at one position."""
        found = with_rows(self.model, at_anchor(self.model, position), self.slabs)
        return found.gradient, found.hessian

    def _of_batch(self, positions: np.ndarray, batch: int) -> np.ndarray:
        padded = np.resize(positions, (batch, positions.shape[1]))
        totals = log_likelihoods(self.model, padded, self.slabs) + log_priors(self.model, padded)
        return totals[: len(positions)]
