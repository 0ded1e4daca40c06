from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from sgais import HMC, ConfigError
from sgais.kernels import hmc

PARTICLES = 20_000


def skewed_log_density(positions):
    """An asymmetric target, so that a wrong sign shows: theta_0 log-gamma(3), theta_1 | theta_0 ~ N(theta_0, 1)."""

    def one(position):
        return 3 * position[0] - jnp.exp(position[0]) - 0.5 * (position[1] - position[0]) ** 2

    return jax.vmap(jax.value_and_grad(one))(positions)


def exact_draws(seed):
    generator = np.random.default_rng(seed)
    first = np.log(generator.gamma(3.0, size=PARTICLES))
    return np.column_stack([first, first + generator.normal(size=PARTICLES)])


ONE = (((0.7, 0.0), (0.5, 1.0)),)
TWO = (((0.7, 0.0), (0.5, 1.0)), ((0.2, 0.1), (0.0, 3.0)))  # the second is a poor one


def trajectories(kernel, key=0):
    return hmc.trajectories(jax.random.key(key), kernel.num_trajectories)


def moved(start, kernel, step_sizes, key=0, whitenings=ONE, region=None):
    matrices, sizes = jnp.array(whitenings), jnp.broadcast_to(jnp.asarray(step_sizes), len(whitenings))
    chances = trajectories(kernel, key)
    run = jax.jit(lambda at: hmc.move(chances, at, skewed_log_density, matrices, sizes, kernel, region))
    positions, info = run(jnp.asarray(start, jnp.float32))
    return np.asarray(positions, float), info


@pytest.mark.parametrize("whitenings", [ONE, TWO])
def test_the_target_is_left_exactly_invariant_even_by_coarse_steps(whitenings):
    """Steps so large that a tenth of the trajectories is rejected; without the test the law would be off."""
    kernel = HMC(num_trajectories=30, num_leapfrog=1)
    positions, info = moved(exact_draws(0), kernel, 1.5, whitenings=whitenings)
    assert info.step_size.shape == (len(whitenings),)
    assert int(info.num_trajectories) == 30
    assert float(info.acceptance) < 0.95
    assert stats.kstest(np.exp(positions[:, 0]), stats.gamma(3).cdf).pvalue > 1e-3
    assert stats.kstest(positions[:, 1] - positions[:, 0], stats.norm.cdf).pvalue > 1e-3


def test_a_wrong_start_is_forgotten():
    positions, _ = moved(np.zeros((PARTICLES, 2)) + 2.0, HMC(num_trajectories=30), 0.4)
    assert stats.kstest(np.exp(positions[:, 0]), stats.gamma(3).cdf).pvalue > 1e-3
    assert stats.kstest(positions[:, 1] - positions[:, 0], stats.norm.cdf).pvalue > 1e-3


def test_the_step_size_is_steered_to_the_target_acceptance():
    kernel = {"num_leapfrog": 1, "target_acceptance": 0.9}
    for first in (0.3, 1.5):
        _, info = moved(exact_draws(1), HMC(num_trajectories=100, **kernel), first)
        _, settled = moved(exact_draws(1), HMC(num_trajectories=1, **kernel), info.step_size)
        assert float(settled.acceptance) == pytest.approx(0.9, abs=0.05)


@pytest.mark.parametrize("whitenings", [ONE, TWO])
def test_a_target_confined_to_a_region_is_left_invariant(whitenings):
    """Trajectories cross its border and come back or are rejected; the law within it stays what it is."""
    draws = exact_draws(3)
    inside = draws[draws[:, 1] > draws[:, 0]]
    kernel = HMC(num_trajectories=30, num_leapfrog=2)
    positions, _ = moved(inside, kernel, 0.6, whitenings=whitenings, region=lambda at: at[:, 1] > at[:, 0])
    assert (positions[:, 1] > positions[:, 0]).all()
    assert stats.kstest(np.exp(positions[:, 0]), stats.gamma(3).cdf).pvalue > 1e-3
    assert stats.kstest(positions[:, 1] - positions[:, 0], stats.halfnorm.cdf).pvalue > 1e-3
    assert np.mean(positions == inside) < 0.05, "they have moved"


def test_matrices_take_turns_and_each_has_a_step_size_of_its_own():
    """The second one is a hundred times too long: only short steps are accepted with it."""
    matrices = jnp.stack([jnp.eye(2), 100 * jnp.eye(2)])
    start = jnp.asarray(np.random.default_rng(0).normal(size=(2000, 2)), jnp.float32)
    sizes, even = jnp.array([0.3, 0.3]), HMC(num_trajectories=2)
    _, info = jax.jit(lambda at: hmc.move(trajectories(even), at, gaussian, matrices, sizes, even))(start)
    assert info.step_size[0] > 0.3 > info.step_size[1]
    one = HMC(num_trajectories=1)
    _, odd = jax.jit(lambda at: hmc.move(trajectories(one), at, gaussian, matrices, sizes, one))(start)
    assert odd.step_size[0] == info.step_size[0]
    assert odd.step_size[1] == sizes[1]


@pytest.mark.parametrize(("most_leapfrog", "correlation"), [(3, np.cos(0.45)), (12, np.cos(1.5))])
def test_short_steps_make_a_quarter_turn_if_there_may_be_enough_of_them(most_leapfrog, correlation):
    """On a Gaussian a trajectory of length t leaves a correlation of about cos t."""
    kernel = HMC(num_trajectories=1, num_leapfrog=3, most_leapfrog=most_leapfrog)
    start = np.random.default_rng(0).normal(size=(PARTICLES, 1)).astype(np.float32)
    run = jax.jit(lambda at: hmc.move(trajectories(kernel), at, gaussian, jnp.eye(1)[None], jnp.array([0.15]), kernel))
    end, _ = run(jnp.asarray(start))
    assert np.corrcoef(start[:, 0], np.asarray(end)[:, 0])[0, 1] == pytest.approx(correlation, abs=0.05)


def gaussian(positions):
    return -0.5 * jnp.sum(positions**2, axis=1), -positions


def two_far_modes(positions):
    return jax.vmap(jax.value_and_grad(lambda at: jax.nn.logsumexp(-0.5 * jnp.stack([at + 10, at - 10])[:, 0] ** 2)))(
        positions
    )


@pytest.mark.parametrize(
    ("log_density", "modes", "largest_correlation", "fewest", "most"),
    [
        (gaussian, (0.0,), 0.25, 1, 3),
        (gaussian, (0.0,), 0.0, 20, 20),
        (two_far_modes, (-10.0, 10.0), 0.0, 20, 20),
        (two_far_modes, (-10.0, 10.0), 0.25, hmc.PATIENCE, hmc.PATIENCE + 1),
    ],
)
def test_a_move_ends_when_particles_have_forgotten_where_they_began(
    log_density, modes, largest_correlation, fewest, most
):
    """Or when they have stopped forgetting it.

    A quarter turn on a Gaussian is a new draw; no trajectory leads from one far mode to the other, and it is no use to
    try again.
    """
    start = np.random.default_rng(0).normal(size=(512, 1)) + np.resize(modes, 512)[:, None]
    kernel = HMC(num_trajectories=20, largest_correlation=largest_correlation)
    at = jnp.asarray(start, jnp.float32)
    end, info = hmc.move(trajectories(kernel), at, log_density, jnp.eye(1)[None], jnp.array([0.5]), kernel)
    assert fewest <= int(info.num_trajectories) <= most
    assert (abs(np.corrcoef(start[:, 0], end[:, 0])[0, 1]) < 0.25) == (log_density is gaussian)


def test_with_two_matrices_a_move_is_given_up_only_when_both_have_had_their_chance():
    start = np.random.default_rng(0).normal(size=(512, 1)) + np.resize([-10.0, 10.0], 512)[:, None]
    kernel = HMC(num_trajectories=40, largest_correlation=0.25)
    matrices = jnp.array([[[1.0]], [[2.0]]])
    at = jnp.asarray(start, jnp.float32)
    _, info = hmc.move(trajectories(kernel), at, two_far_modes, matrices, jnp.array([0.5, 0.25]), kernel)
    assert 2 * hmc.PATIENCE <= int(info.num_trajectories) <= 2 * hmc.PATIENCE + 1


def test_particles_that_all_begin_at_one_place_have_nothing_to_forget_and_go_all_the_way():
    kernel = HMC(num_trajectories=4, largest_correlation=0.25)
    _, info = hmc.move(trajectories(kernel), jnp.zeros((512, 1)), gaussian, jnp.eye(1)[None], jnp.array([0.5]), kernel)
    assert int(info.num_trajectories) == 4


def test_trajectories_that_leave_the_finite_numbers_are_rejected_and_counted():
    def wall(positions):
        log_densities = jnp.where(positions[:, 0] > 0, -positions[:, 0], jnp.nan)
        return log_densities, jnp.where(positions > 0, -1.0, jnp.nan)

    start = jnp.full((500, 1), 0.05)
    kernel = HMC(num_trajectories=1)
    positions, info = hmc.move(trajectories(kernel), start, wall, jnp.eye(1)[None], jnp.array([0.5]), kernel)
    assert (np.asarray(positions) > 0).all()
    assert 0 < int(info.num_non_finite) < 500


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_trajectories": 0}, "`num_trajectories` must be a whole number of at least 1"),
        ({"num_trajectories": True}, "`num_trajectories` must be a whole number of at least 1"),
        ({"num_leapfrog": 0}, "`num_leapfrog` must be a whole number of at least 1"),
        ({"num_leapfrog": 2.5}, "`num_leapfrog` must be a whole number of at least 1"),
        ({"num_leapfrog": 4, "most_leapfrog": 3}, "`most_leapfrog` must be a whole number of at least 4"),
        ({"target_acceptance": 1.0}, "`target_acceptance` must lie between 0 and 1"),
        ({"largest_correlation": 1.0}, "`largest_correlation` must be at least 0 and less than 1"),
    ],
)
def test_impossible_parameters_are_refused(arguments, message):
    with pytest.raises(ConfigError, match=message):
        HMC(**arguments)


def test_one_program_serves_moves_of_any_length(compilations):
    """Within what one array of keys holds; the draws are those of the kernel's own number of trajectories."""
    run = jax.jit(partial(hmc.move, log_density=gaussian, kernel=HMC()))
    at, whitenings, sizes = jnp.zeros((64, 1)), jnp.eye(1)[None], jnp.array([0.5])
    for most in (1, 5, hmc.KEYS_AT_ONCE):
        chances = trajectories(HMC(num_trajectories=most))
        before = len(compilations)
        _, info = run(chances, at, whitenings=whitenings, step_sizes=sizes)
        assert int(info.num_trajectories) == most
        assert len(compilations) == before + (most == 1)
