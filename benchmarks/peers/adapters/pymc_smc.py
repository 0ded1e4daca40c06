"""PyMC: `sample_smc` with its defaults and a black-box likelihood, wrapped as in its documentation."""

from typing import Any

import numpy as np
import pymc
import pytensor.tensor
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op

from benchmarks.peers.estimate import Estimate, Run
from benchmarks.peers.target import Target


class _Likelihood(Op):  # type: ignore[misc]
    """The log-likelihood of one position: PyMC asks for one at a time."""

    def __init__(self, target: Target) -> None:
        self.target = target

    def make_node(self, position: Any) -> Apply:
        """From a vector to a number."""
        return Apply(self, [pytensor.tensor.as_tensor(position)], [pytensor.tensor.dscalar()])

    def perform(self, _: Apply, inputs: list[np.ndarray], outputs: list[list[np.ndarray]]) -> None:
        """Called by PyTensor's compiled functions."""
        outputs[0][0] = np.asarray(self.target.log_likelihood_of(inputs[0]))


def prepare(target: Target, seed: int) -> Run:
    """Compile the likelihood of one position."""
    target.log_likelihood_of(target.draws(1, seed)[0])
    target.num_likelihoods = 0
    with pymc.Model() as model:
        position = pymc.Normal("position", shape=target.dimension)
        pymc.Potential("likelihood", _Likelihood(target)(position))

    def run() -> Estimate:
        with model:
            trace = pymc.sample_smc(
                chains=1, cores=1, random_seed=seed, progressbar=False, compute_convergence_checks=False
            )
        stages = np.asarray(trace.sample_stats["log_marginal_likelihood"].values[0], float)
        return Estimate(float(stages[np.isfinite(stages)][-1]), float("nan"), target.num_likelihoods)

    return run
