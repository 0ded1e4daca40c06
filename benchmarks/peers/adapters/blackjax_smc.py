"""BlackJAX: adaptive tempered SMC with HMC moves whose mass matrix comes from the particles.

The library's own parts throughout: `inner_kernel_tuning` around `adaptive_tempered_smc`, `particles_covariance_matrix`,
its default of 10 moves per temperature and the target ESS of its examples. A diagonal mass matrix would do badly on the
correlated posterior of softmax regression, hence the dense one. On what is then nearly a standard Gaussian, a step of
d^(-1/4) is accepted most of the time, and a quarter of a turn makes a new draw.
"""

from functools import partial
from typing import Any

import blackjax
import jax
import jax.numpy as jnp
import numpy as np
from blackjax.smc import extend_params
from blackjax.smc.resampling import systematic
from blackjax.smc.tuning.from_particles import particles_covariance_matrix

from benchmarks.peers.estimate import Estimate, Run
from benchmarks.peers.target import Columns, Target

TARGET_ESS = 0.5
NUM_MOVES = 10
RIDGE = 1e-12  # keeps the covariance of few particles invertible


def prepare(target: Target, seed: int, num_particles: int) -> Run:
    """Compile one temperature step, which is the same for all temperatures."""
    particles = jnp.asarray(target.draws(num_particles, seed))
    algorithm = partial(_algorithm, target, _parameters(particles))
    state = algorithm(target.columns).init(particles)
    key = jax.random.key(seed)
    traced = jax.jit(lambda key, state, columns: algorithm(columns).step(key, state))
    step = traced.lower(key, state, target.columns).compile()

    def run() -> Estimate:
        log_evidence, temperatures, now = 0.0, 0, state
        while now.sampler_state.tempering_param < 1.0:
            now, info = step(jax.random.fold_in(key, temperatures), now, target.columns)
            log_evidence += float(info.log_likelihood_increment)
            temperatures += 1
        # A step weighs the particles twice, for the next temperature and for the evidence, and starts its moves with
        # one gradient.
        likelihoods = 2 * temperatures * num_particles
        gradients = temperatures * num_particles * (1 + NUM_MOVES * _num_leapfrog_steps(target.dimension))
        return Estimate(log_evidence, float("nan"), likelihoods, gradients)

    return run


def _algorithm(target: Target, first: dict[str, jax.Array], columns: Columns) -> Any:
    return blackjax.inner_kernel_tuning(
        smc_algorithm=blackjax.adaptive_tempered_smc,
        logprior_fn=target.log_prior,
        loglikelihood_fn=partial(target.log_likelihood, columns=columns),
        mcmc_step_fn=blackjax.hmc.build_kernel(),
        mcmc_init_fn=blackjax.hmc.init,
        resampling_fn=systematic,
        mcmc_parameter_update_fn=lambda _, state, __: _parameters(state.particles),
        initial_parameter_value=first,
        num_mcmc_steps=NUM_MOVES,
        target_ess=TARGET_ESS,
    )


def _parameters(particles: jax.Array) -> dict[str, jax.Array]:
    dimension = particles.shape[1]
    return extend_params(
        {
            "inverse_mass_matrix": particles_covariance_matrix(particles) + RIDGE * jnp.eye(dimension),
            "step_size": _step_size(dimension),
            "num_integration_steps": _num_leapfrog_steps(dimension),
        }
    )


def _step_size(dimension: int) -> float:
    return float(dimension**-0.25)


def _num_leapfrog_steps(dimension: int) -> int:
    return round(0.5 * np.pi / _step_size(dimension))
