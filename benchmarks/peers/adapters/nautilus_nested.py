"""Nautilus: importance nested sampling guided by neural networks, with its defaults.

The points of its exploration are discarded, as its documentation asks for where the evidence matters.
"""

import numpy as np
from nautilus import Sampler

from benchmarks.peers.estimate import Estimate, Run
from benchmarks.peers.target import Target

BATCH = 100  # positions that it asks for at a time


def prepare(target: Target, seed: int) -> Run:
    """Compile the likelihoods of a batch."""
    target.log_likelihoods(target.draws(BATCH, seed))
    target.num_likelihoods = 0

    def run() -> Estimate:
        sampler = Sampler(
            target.from_cube,
            target.log_likelihoods,
            n_dim=target.dimension,
            n_batch=BATCH,
            vectorized=True,
            pass_dict=False,
            seed=seed,
        )
        finished = sampler.run(discard_exploration=True)
        # It gives no error: that of an importance sample of its effective size.
        error = 1.0 / np.sqrt(sampler.n_eff)
        return Estimate(
            float(sampler.log_z), float(error), target.num_likelihoods, doubt="" if finished else "not converged"
        )

    return run
