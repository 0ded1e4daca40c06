import numpy as np
import pytest

from sgais.smc.resampling import SCHEMES

WEIGHTS = np.array([0.05, 0.0, 0.5, 0.15, 0.3])


@pytest.mark.parametrize("name", sorted(SCHEMES))
def test_expected_copies_are_in_proportion_to_the_weights(name):
    generator = np.random.default_rng(0)
    runs = 4000
    copies = np.array([np.bincount(SCHEMES[name](generator, WEIGHTS), minlength=5) for _ in range(runs)])
    error = copies.std(axis=0) / np.sqrt(runs)
    assert (copies.sum(axis=1) == 5).all()
    assert (np.abs(copies.mean(axis=0) - 5 * WEIGHTS) <= 4 * error + 1e-12).all()


@pytest.mark.parametrize("name", ["residual", "stratified", "systematic"])
def test_better_schemes_vary_less_than_multinomial(name):
    def spread(scheme):
        generator = np.random.default_rng(1)
        return np.mean([np.var(np.bincount(scheme(generator, WEIGHTS), minlength=5) - 5 * WEIGHTS) for _ in range(500)])

    assert spread(SCHEMES[name]) < 0.8 * spread(SCHEMES["multinomial"])


class LastMoment:
    """A generator whose every number is the largest below one."""

    def random(self, size=None):
        return np.nextafter(1.0, 0.0) if size is None else np.full(size, np.nextafter(1.0, 0.0))


@pytest.mark.parametrize("name", sorted(SCHEMES))
def test_rounding_never_selects_a_particle_without_weight(name):
    weights = np.array([0.1] * 10 + [0.0])
    assert SCHEMES[name](LastMoment(), weights / weights.sum()).max() <= 9


@pytest.mark.parametrize("name", sorted(SCHEMES))
def test_a_first_particle_without_weight_is_never_selected(name):
    class FirstMoment:
        def random(self, size=None):
            return 0.0 if size is None else np.zeros(size)

    assert SCHEMES[name](FirstMoment(), np.array([0.0, 0.4, 0.6])).min() >= 1


def test_systematic_rounds_the_expected_copies_and_stratified_may_miss_by_more():
    generator = np.random.default_rng(2)
    weights = generator.dirichlet(np.ones(20))

    def largest_deviation(name):
        copies = [np.bincount(SCHEMES[name](generator, weights), minlength=20) for _ in range(500)]
        return np.abs(np.array(copies) - 20 * weights).max()

    assert largest_deviation("systematic") < 1 < largest_deviation("stratified") < 2


@pytest.mark.parametrize("count", [10, 49, 98])
def test_equal_weights_keep_every_particle_under_residual_resampling(count):
    kept = SCHEMES["residual"](np.random.default_rng(0), np.full(count, 1 / count))
    assert sorted(kept) == list(range(count))
