"""The library `particles`: waste-free SMC samplers, along temperatures or along the data (IBIS).

200 chains of length 100, as in its documentation; random-walk Metropolis calibrated to the particles, its default.
"""

from typing import Any

import numpy as np
import particles
from particles import distributions, smc_samplers

from benchmarks.peers.estimate import Estimate, Run
from benchmarks.peers.target import Target

NUM_CHAINS = 200
CHAIN_LENGTH = 100


class _Model(smc_samplers.StaticModel):  # type: ignore[misc]
    """Our target as the library wants it. `data` is only counted: the target has the rows."""

    def __init__(self, target: Target) -> None:
        prior = distributions.MvNormal(loc=np.zeros(target.dimension), cov=np.eye(target.dimension))
        super().__init__(data=range(target.num_rows), prior=prior)
        self.target = target

    def logpyt(self, theta: np.ndarray, t: int) -> np.ndarray:
        """One row."""
        return self.target.row_log_likelihoods(theta, t)

    def loglik(self, theta: np.ndarray, t: int | None = None) -> np.ndarray:
        """All rows up to row t, at once instead of one by one."""
        return self.target.log_likelihoods(theta, None if t is None else t + 1)


def prepare(target: Target, seed: int, along_data: bool = False) -> Run:
    """Compile the likelihoods of as many positions as are moved at a time."""
    kind: Any = smc_samplers.IBIS if along_data else smc_samplers.AdaptiveTempering
    sampler = kind(model=_Model(target), len_chain=CHAIN_LENGTH)
    for count in (NUM_CHAINS, NUM_CHAINS * CHAIN_LENGTH):
        target.log_likelihoods(target.draws(count, seed), 1)
        target.row_log_likelihoods(target.draws(count, seed), 0)
    target.num_likelihoods = 0

    def run() -> Estimate:
        np.random.seed(seed)  # noqa: NPY002 - the library draws from NumPy's global state
        algorithm = particles.SMC(fk=sampler, N=NUM_CHAINS, collect=[smc_samplers.Var_logLt()])
        algorithm.run()
        variance = algorithm.summaries.var_logLt[-1] / (NUM_CHAINS * CHAIN_LENGTH)
        return Estimate(float(algorithm.logLt), float(np.sqrt(variance)), target.num_likelihoods)

    return run
