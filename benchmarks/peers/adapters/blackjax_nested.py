"""BlackJAX: nested slice sampling, `blackjax.nss`, with the inner steps that its documentation asks for."""

from functools import partial

import blackjax
import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.peers.estimate import Estimate, Run
from benchmarks.peers.target import Target

NUM_LIVE = 500
NUM_DELETE = 50  # at a time, so that their slices are one batch of likelihoods
STEPS_PER_DIMENSION = 2  # at least 5 and twice the dimension, or the evidence is biased
REMAINDER = -3.0  # log of the share of the evidence that may be left in the live points


def prepare(target: Target, seed: int) -> Run:
    """Compile one iteration, which is the same for all."""

    def algorithm(columns: dict[str, jax.Array]) -> blackjax.SamplingAlgorithm:
        return blackjax.nss(
            logprior_fn=target.log_prior,
            loglikelihood_fn=partial(target.log_likelihood, columns=columns),
            num_inner_steps=max(5, STEPS_PER_DIMENSION * target.dimension),
            num_delete=NUM_DELETE,
        )

    key = jax.random.key(seed)
    start = jax.jit(lambda positions, columns: algorithm(columns).init(positions))
    state = start(jnp.asarray(target.draws(NUM_LIVE, seed)), target.columns)
    traced = jax.jit(lambda key, state, columns: algorithm(columns).step(key, state))
    step = traced.lower(key, state, target.columns).compile()

    def run() -> Estimate:
        now, dead, iterations = state, [], 0
        while now.integrator.logZ_live - now.integrator.logZ > REMAINDER:
            now, info = step(jax.random.fold_in(key, iterations), now, target.columns)
            dead.append(info)
            iterations += 1
        final = blackjax.ns.utils.finalise(now, dead)
        log_weights = np.asarray(blackjax.ns.utils.log_weights(key, final, shape=100))
        log_evidences = np.logaddexp.reduce(log_weights, axis=0)
        return Estimate(float(log_evidences.mean()), float(log_evidences.std()))

    return run
