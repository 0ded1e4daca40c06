import numpy as np
import pytest

from sgais.approximation.pareto import tail_shape, unseen_tail


@pytest.mark.parametrize("shape", [0.2, 0.5, 1.0])
def test_the_shape_of_a_pareto_distribution_is_found(shape):
    """Weights u^-k have exactly this tail; the fit leans a little towards 1/2."""
    uniform = np.random.default_rng(0).random(100_000)
    assert tail_shape(-shape * np.log(uniform)) == pytest.approx(shape, abs=0.1)


def test_bounded_weights_have_a_negative_shape():
    """A uniform tail is a generalised Pareto of shape -1."""
    assert tail_shape(np.log(np.random.default_rng(0).random(100_000))) == pytest.approx(-1.0, abs=0.1)


def test_a_scale_does_not_matter():
    log_weights = np.random.default_rng(0).normal(size=1000)
    assert tail_shape(log_weights + 1e5) == pytest.approx(tail_shape(log_weights), abs=1e-6)


def test_the_ends():
    assert tail_shape(np.zeros(1000)) == -np.inf
    assert tail_shape(np.where(np.arange(1000) < 3, 0.0, -np.inf)) == np.inf
    assert tail_shape(np.linspace(0, 1e5, 1000)) == np.inf


@pytest.mark.parametrize("shape", [0.2, 0.5, 0.6, 0.65, 0.7])
@pytest.mark.parametrize("num_weights", [1000, 8000])
def test_errors_hold_as_long_as_the_tail_is_trusted(shape, num_weights):
    """Weights u^-k have mean 1 / (1 - k); of 400 runs, those whose fitted shape is below 0.7 count."""
    generator = np.random.default_rng(1)
    covered = []
    for _ in range(400):
        weights = generator.random(num_weights) ** -shape
        found = tail_shape(np.log(weights))
        if found <= 0.7:
            spread = weights.std() / np.sqrt(num_weights) / weights.mean()
            error = np.hypot(spread, unseen_tail(np.log(weights), found))
            covered.append(abs(np.log(weights.mean() * (1 - shape))) < 1.96 * error)
    assert np.mean(covered) > 0.95 - (0.05 if shape == 0.7 else 0.0) - 3 * np.sqrt(0.05 * 0.95 / len(covered))


def test_light_tails_hide_nothing():
    log_weights = np.random.default_rng(0).normal(scale=0.1, size=1000)
    assert unseen_tail(log_weights, 0.2) == 0.0
    assert unseen_tail(log_weights, 1.2) == np.inf
