"""Bridge sampling against integrals that are known, and its error against repetitions."""

import numpy as np

from sgais.approximation.bridge import Ratios, bridged

REPETITIONS, DRAWS, ISLANDS, PARTICLES = 200, 2000, 8, 40
LOG_Z = 3.0


def normal(x, scale):
    return -0.5 * (x / scale) ** 2 - np.log(scale) - 0.5 * np.log(2 * np.pi)


def ratios(generator, scale, log_weights=None):
    """From a Gaussian of this scale to one of scale one whose integral is exp(3); particles are exact draws of it."""
    drawn, particles = scale * generator.normal(size=DRAWS), generator.normal(size=(ISLANDS, PARTICLES))
    if log_weights is None:
        log_weights = np.zeros(particles.shape)
    of_draws, of_particles = (LOG_Z + normal(x, 1.0) - normal(x, scale) for x in (drawn, particles))
    return Ratios(of_draws, of_particles, log_weights)


def repeated(scale):
    found = [bridged(ratios(np.random.default_rng(seed), scale)) for seed in range(REPETITIONS)]
    errors = np.array([one.log_evidence for one in found]) - LOG_Z
    return errors, np.array([one.standard_error for one in found])


def test_errors_are_as_large_as_they_say():
    for scale in (0.5, 1.5, 4.0):
        errors, claimed = repeated(scale)
        chance = 4 * errors.std() / np.sqrt(REPETITIONS)
        assert abs(errors.mean()) < chance, "no bias"
        assert 0.8 < np.sqrt(np.mean((errors / claimed) ** 2)) < 1.25


def test_a_density_that_is_too_narrow_for_importance_sampling_does():
    """At half the posterior's scale the variance of weights is infinite, and their mean mostly too low."""
    errors, _ = repeated(0.5)
    weighed = [
        np.logaddexp.reduce(ratios(np.random.default_rng(seed), 0.5).of_draws) - np.log(DRAWS) - LOG_Z
        for seed in range(REPETITIONS)
    ]
    assert np.sqrt(np.mean(errors**2)) < 0.5 * np.sqrt(np.mean(np.square(weighed)))
    assert np.mean(np.array(weighed) < 0) > 0.6
    assert abs(np.mean(errors < 0) - 0.5) < 0.15


def test_particles_count_by_their_weights():
    """Some stand for nothing, and lie where the posterior is not."""
    some = ratios(np.random.default_rng(0), 1.5)
    astray = some._replace(
        of_particles=np.where(np.arange(PARTICLES) < 10, 50.0, some.of_particles),
        log_weights=np.where(np.arange(PARTICLES) < 10, -np.inf, some.log_weights + np.zeros((ISLANDS, PARTICLES))),
    )
    found = bridged(astray)
    assert abs(found.log_evidence - LOG_Z) < 4 * found.standard_error < 0.3


def test_draws_that_miss_the_posterior_altogether_say_nothing():
    some = ratios(np.random.default_rng(0), 1.5)
    assert bridged(some._replace(of_draws=np.full(DRAWS, -np.inf))).standard_error == np.inf
