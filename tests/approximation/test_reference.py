"""The density that log Z is taken from outright: what is drawn from it and what it says of its density fit together."""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

import sgais
from sgais.approximation import reference
from sgais.approximation.bend import Shape, straight
from sgais.approximation.gaussian import Gaussian, of_positions
from sgais.compute.label_symmetry import are_in_order, label_order
from sgais.compute.positions import log_priors
from sgais.estimators.default import mode_bank

DIMENSION = 2
DRAWS = 20_000
FIRST = Gaussian(np.array([3.0, -1.0]), np.array([[4.0, 1.5], [1.5, 1.0]]))
SECOND = Gaussian(np.array([-4.0, 2.0]), np.array([[0.5, 0.0], [0.0, 9.0]]))
SEPARATE = [(0.7, Shape(FIRST, straight(DIMENSION))), (0.3, Shape(SECOND, straight(DIMENSION)))]
MODEL = sgais.Model(
    prior={"at": dist.Normal(0.0, 5.0).expand([DIMENSION]).to_event(1)},
    log_likelihood=lambda parameters, rows: dist.Normal(parameters["at"].sum(), 1.0).log_prob(rows["y"]),
)


def drawn(mixture, seed=0):
    return reference.draw(MODEL, mixture, DRAWS, seed, np.random.default_rng(seed))


def log_mean(values):
    """And its standard error."""
    weights = np.exp(values - values.max())
    error = weights.std() / np.sqrt(len(weights)) / weights.mean()
    return values.max() + np.log(weights.mean()), error


def gaussian_log_density(gaussian, positions):
    return -0.5 * gaussian.distances(positions) ** 2 - gaussian.log_volume


@pytest.mark.parametrize("parts", [SEPARATE[:1], SEPARATE])
def test_importance_sampling_of_gaussians_gives_their_integral(parts):
    """The posterior stands for what the parts are shaped like, with other shares."""
    mixture = reference.mixture(parts, DIMENSION)
    at = drawn(mixture)
    target = np.logaddexp.reduce([gaussian_log_density(shape.gaussian, at) for _, shape in parts])
    found, error = log_mean(target - reference.log_densities(MODEL, mixture, at))
    assert error < 0.02
    assert abs(found - np.log(len(parts))) < 4 * error


def test_the_density_is_that_of_the_draws_everywhere():
    """Also where only the prior draws: shares of boxes against the integral of the density over them."""
    mixture = reference.mixture(SEPARATE, DIMENSION)
    at, step = drawn(mixture), 0.05
    grid = np.arange(-40.0, 40.0, step) + 0.5 * step
    mesh = np.stack(np.meshgrid(grid, grid, indexing="ij"), axis=-1).reshape(-1, 2)
    density = np.exp(reference.log_densities(MODEL, mixture, mesh)) * step**2
    assert density.sum() == pytest.approx(1.0, abs=1e-3)
    for low, high in [((-40, -40), (0, 40)), ((2, -2), (4, 0)), ((5, 5), (40, 40)), ((-6, 1), (-2, 3))]:
        share, expected = (
            np.sum(weights[((points > low) & (points < high)).all(axis=1)])
            for points, weights in ((at, np.full(DRAWS, 1 / DRAWS)), (mesh, density))
        )
        assert abs(share - expected) < 4 * np.sqrt(expected * (1 - expected) / DRAWS) + 1e-4


def test_shares_are_what_was_asked_for():
    shares = reference.mixture(SEPARATE, DIMENSION).shares
    of_parts = (1 - reference.PRIOR_SHARE) * np.array([0.7, 0.3])
    np.testing.assert_allclose(shares[[0, 1, -1]], [*of_parts, reference.PRIOR_SHARE], rtol=1e-6)
    np.testing.assert_array_equal(shares[2:-1], 0.0)


def test_components_that_are_not_in_use_do_nothing():
    mixture = reference.mixture(SEPARATE, DIMENSION)
    unused = mixture.log_factors == -np.inf
    assert unused.sum() == reference.COMPONENTS - 2
    centres, roots = mixture.centres.copy(), mixture.roots.copy()
    centres[unused], roots[unused] = 7.0, 3.0 * np.eye(DIMENSION)
    elsewhere, at = mixture._replace(centres=centres, roots=roots), drawn(mixture)
    np.testing.assert_array_equal(drawn(elsewhere), at)
    before, after = (reference.log_densities(MODEL, one, at) for one in (mixture, elsewhere))
    np.testing.assert_array_equal(after, before)


def test_of_too_many_parts_the_largest_are_kept_and_the_rest_is_made_up_for():
    gaussians = [Gaussian(np.full(DIMENSION, 3.0 * number), np.eye(DIMENSION)) for number in range(12)]
    parts = [(1.0 + number, Shape(gaussian, straight(DIMENSION))) for number, gaussian in enumerate(gaussians)]
    mixture = reference.mixture(parts, DIMENSION)
    assert mixture.shares.sum() == pytest.approx(1.0)
    np.testing.assert_array_equal(mixture.centres[:, 0], 3.0 * np.arange(11, 3, -1))


def test_compiled_code_has_the_same_density_and_a_gradient():
    mixture = reference.on_device(reference.mixture(SEPARATE, DIMENSION))
    at = drawn(mixture)[:200]

    @jax.jit
    def total(positions):
        priors = jax.vmap(MODEL.log_prior_at)(positions)
        return reference.log_density(mixture, positions, priors)

    np.testing.assert_allclose(
        total(jnp.asarray(at, jnp.float32)), reference.log_densities(MODEL, mixture, at), rtol=1e-4
    )
    gradients = jax.jit(jax.grad(lambda positions: total(positions).sum()))(jnp.asarray(at, jnp.float32))
    assert np.isfinite(gradients).all(), "components that are not in use have no say in it"
    nothing = reference.nothing(DIMENSION)
    assert all(np.isfinite(part).all() for part in jax.tree.leaves(nothing))


def test_a_reference_is_fitted_to_particles_and_modes():
    """Two modes of which the particles know one: the other has a share all the same."""
    generator = np.random.default_rng(0)
    positions = FIRST.unwhiten(generator.normal(size=(400, DIMENSION)))
    fitted = reference.fit(positions, [(FIRST, 0.0), (SECOND, -2.0)])
    at = drawn(fitted)
    near = (SECOND.distances(at) < 4.0).mean()
    assert near > 0.05
    target = np.logaddexp(gaussian_log_density(FIRST, at), -2.0 + gaussian_log_density(SECOND, at))
    found, error = log_mean(target - reference.log_densities(MODEL, fitted, at))
    assert error < 0.02
    assert abs(found - np.logaddexp(0.0, -2.0)) < 4 * error


def test_without_modes_the_particles_alone_shape_it():
    positions = FIRST.unwhiten(np.random.default_rng(0).normal(size=(400, DIMENSION)))
    fitted = reference.fit(positions, [])
    np.testing.assert_allclose(fitted.centres[0], positions.mean(axis=0))
    np.testing.assert_allclose(fitted.roots[0] @ fitted.roots[0].T, FIRST.precision, rtol=0.2, atol=0.2)
    far = np.array([[1000.0, 1000.0]])
    assert (
        reference.log_densities(MODEL, fitted, far)[0]
        > log_priors(MODEL, far)[0] + np.log(reference.PRIOR_SHARE) - 1e-6
    )


def test_a_reference_that_bends_has_the_density_of_its_draws():
    """A funnel, of which a Gaussian knows little: its integral is found, and compiled code agrees."""
    generator = np.random.default_rng(0)
    widths = generator.normal(size=(400, 1))
    particles = np.hstack([widths, np.exp(widths) * generator.normal(size=(400, 1))])
    fitted, plain = reference.fit(particles, []), Shape(of_positions(particles), straight(DIMENSION))
    assert np.abs(fitted.bends.leading[0]).sum() > 0
    at = drawn(fitted)

    def log_target(at):
        of_widths = -0.5 * at[:, 0] ** 2
        return of_widths - 0.5 * (at[:, 1] / np.exp(at[:, 0])) ** 2 - at[:, 0] - np.log(2 * np.pi)

    densities = reference.log_densities(MODEL, fitted, at)
    found, error = log_mean(log_target(at) - densities)
    assert error < 0.01
    assert abs(found) < 4 * error
    straight_one = reference.mixture([(1.0, plain)], DIMENSION)
    elsewhere = drawn(straight_one)
    worse = log_mean(log_target(elsewhere) - reference.log_densities(MODEL, straight_one, elsewhere))[1]
    assert worse > 2 * error
    on_device = jnp.asarray(at[:500], jnp.float32)
    priors = jax.vmap(MODEL.log_prior_at)(on_device)
    compiled = jax.jit(reference.log_density)(reference.on_device(fitted), on_device, priors)
    np.testing.assert_allclose(compiled, densities[:500], rtol=1e-3, atol=1e-3)


def test_a_mode_across_the_border_of_an_order_is_drawn_from_on_this_side_of_it():
    """Half of it is beyond, and comes back as the edge of its image: together they have the integral of the mode."""
    model = sgais.Model(
        prior={"at": dist.Normal(0.0, 5.0).expand([2])},
        log_likelihood=lambda parameters, rows: dist.Normal(parameters["at"].sum(), 1.0).log_prob(rows["y"]),
        exchangeable=("at",),
    )
    generator = np.random.default_rng(0)
    order = label_order(model, generator.normal([-3.0, 3.0], 1.0, (100, 2)), np.array([-3.0, 3.0]))
    across = Gaussian(np.array([-0.1, 0.1]), np.diag([1 / 9, 100.0]))
    image = Gaussian(across.centre[::-1], across.precision[::-1, ::-1])
    kept = mode_bank.images_in_order(model, (across, 0.0), order, generator)
    fitted = reference.fit(generator.normal([-3.0, 3.0], 1.0, (100, 2)), kept)
    at = reference.draw(model, fitted, DRAWS, 0, generator)
    target = np.logaddexp(gaussian_log_density(across, at), gaussian_log_density(image, at))
    target = np.where(are_in_order(model, at, order), target, -np.inf)
    found, error = log_mean(target - reference.log_densities(model, fitted, at))
    assert error < 0.02
    assert abs(found) < 4 * error


def test_a_draw_of_the_prior_beyond_the_numbers_of_the_device_weighs_nothing():
    """As happens to weights on a simplex of which one is zero."""
    mixture = reference.mixture(SEPARATE, DIMENSION)
    positions = np.array([[1.0, 2.0], [np.inf, 0.0], [0.0, np.nan]])
    found = reference.log_densities(MODEL, mixture, positions)
    assert np.isfinite(found[0])
    assert (found[1:] == np.inf).all()


def test_particles_without_a_width_are_refused_in_words():
    """Where rows follow a model with a free scale exactly, the posterior is a point."""
    positions = np.column_stack([1e-10 * np.arange(384.0), np.ones(384)])
    with pytest.raises(sgais.EstimationError, match="without any noise"):
        reference.fit(positions, [])
