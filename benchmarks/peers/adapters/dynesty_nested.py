"""Dynesty: static nested sampling, which its documentation recommends for evidence, with its defaults."""

import dynesty
import numpy as np

from benchmarks.peers.estimate import Estimate, Run
from benchmarks.peers.target import Target


def prepare(target: Target, seed: int) -> Run:
    """Compile the likelihood of one position: dynesty asks for one at a time."""
    target.log_likelihood_of(target.draws(1, seed)[0])
    target.num_likelihoods = 0

    def run() -> Estimate:
        sampler = dynesty.NestedSampler(
            target.log_likelihood_of, target.from_cube, target.dimension, rstate=np.random.default_rng(seed)
        )
        sampler.run_nested(print_progress=False)
        results = sampler.results
        return Estimate(float(results.logz[-1]), float(results.logzerr[-1]), target.num_likelihoods)

    return run
