"""UltraNest: its reactive sampler with vectorised likelihoods; slices in more dimensions than regions are good for."""

import numpy as np
import ultranest
import ultranest.stepsampler

from benchmarks.peers.estimate import Estimate, Run
from benchmarks.peers.target import Target

MANY_DIMENSIONS = 20  # from which its documentation recommends a step sampler
STEPS_PER_DIMENSION = 2


def prepare(target: Target, seed: int) -> Run:
    """Compile the likelihood of one position; other numbers of positions are compiled when they come."""
    target.log_likelihoods(target.draws(1, seed))
    target.num_likelihoods = 0

    def run() -> Estimate:
        np.random.seed(seed)  # noqa: NPY002 - the library draws from NumPy's global state
        names = [f"parameter {number}" for number in range(target.dimension)]
        sampler = ultranest.ReactiveNestedSampler(names, target.log_likelihoods, target.from_cube, vectorized=True)
        if target.dimension >= MANY_DIMENSIONS:
            sampler.stepsampler = ultranest.stepsampler.SliceSampler(
                nsteps=STEPS_PER_DIMENSION * target.dimension,
                generate_direction=ultranest.stepsampler.generate_mixture_random_direction,
            )
        result = sampler.run(show_status=False, viz_callback=None)
        return Estimate(float(result["logz"]), float(result["logzerr"]), target.num_likelihoods)

    return run
