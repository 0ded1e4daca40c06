import numpy as np
import pytest

from sgais.estimators.pareto import tail_shape


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
