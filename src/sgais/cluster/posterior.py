"""The posterior of rows that workers hold: their sums are exact, searches for modes begin on a sample.

What workers are asked for are sums over a shard in float64, which are added in the order of the shards.
"""

from typing import Any, NamedTuple

import numpy as np

from sgais.approximation.log_posterior import Posterior, likelihood_derivatives, prior_derivatives
from sgais.cluster.shards import Shard, Shards, rows_of
from sgais.cluster.workers import Workers
from sgais.compute.blocks import Blocks, slabs
from sgais.compute.likelihood import log_likelihoods
from sgais.compute.positions import log_priors
from sgais.fields import Chunk, Fields
from sgais.models.base import Model

SAMPLE_ROWS = 65536  # on the driver: two levels of a search
SAMPLE = 104_743  # a purpose of random numbers


class Common(NamedTuple):
    """What every worker has to know, once."""

    model: Model
    columns: dict[str, Any]
    fields: Fields | None


class ShardedPosterior(Posterior):
    """The posterior density of a model on shards.

    Args:
        model: The model.
        data: The shards.
        workers: Who reads them.
        seed: Of the sample.
    """

    def __init__(self, model: Model, data: Shards, workers: Workers, seed: int) -> None:
        self._common, self._data, self._workers = Common(model, data.columns, model.fields), data, workers
        super().__init__(model, slabs(self._sampled(seed)))

    @property
    def num_blocks(self) -> int:
        """How many blocks there would be, were all rows at one place."""
        return -(-self._data.num_rows // self.block_rows)

    def of_first(self, num_blocks: int) -> Posterior:
        """The posterior of a sample of the rows; of all of them where it is to have more than that."""
        sample = Posterior(self.model, self.slabs)
        return sample.of_first(num_blocks) if num_blocks <= sample.num_blocks else self

    def log_densities(self, positions: np.ndarray) -> np.ndarray:
        """The log density at each position, -inf where it is not a number."""
        parts = self._workers.parts(_log_likelihoods, self._common, positions, self._data.parts)
        totals = np.sum(parts, axis=0) + log_priors(self.model, positions)
        return np.where(np.isnan(totals) | (totals == np.inf), -np.inf, totals)

    def derivatives(self, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gradients (n, d) and Hessians (n, d, d) of the log density at positions (n, d)."""
        parts = self._workers.parts(_derivatives, self._common, positions, self._data.parts)
        parts.append(prior_derivatives(self.model, positions))
        gradients, hessians = (np.sum(each, axis=0) for each in zip(*parts, strict=True))
        return gradients, 0.5 * (hessians + hessians.transpose(0, 2, 1))

    def _sampled(self, seed: int) -> Chunk:
        """Rows of all shards, as many of each as its share, in random order."""
        share = min(1.0, SAMPLE_ROWS / self._data.num_rows)
        parts = self._workers.parts(_some_rows, self._common, (share, seed), self._data.parts)
        together = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        order = np.random.default_rng([seed, SAMPLE]).permutation(len(next(iter(together.values()))))
        return {name: values[order] for name, values in together.items()}


def _some_rows(common: Common, argument: tuple[float, int], shard: Shard) -> Chunk:
    """A sample of a shard, which does not depend on other shards."""
    share, seed = argument
    rows = rows_of(shard, common.columns, common.fields)
    count = int(np.ceil(share * shard.num_rows))
    generator = np.random.default_rng([seed, SAMPLE, shard.group, *shard.path.encode()])
    chosen = generator.permutation(shard.num_rows)[:count]
    return {name: values[chosen] for name, values in rows.items()}


def _log_likelihoods(common: Common, positions: np.ndarray, shard: Shard) -> np.ndarray:
    return log_likelihoods(common.model, positions, _slabs(common, shard))


def _derivatives(common: Common, positions: np.ndarray, shard: Shard) -> tuple[np.ndarray, np.ndarray]:
    return likelihood_derivatives(common.model, positions, _slabs(common, shard))


def _slabs(common: Common, shard: Shard) -> list[Blocks]:
    return slabs(rows_of(shard, common.columns, common.fields))
