import numpy as np
import pytest

from sgais import simulate
from sgais.errors import ConfigError

SIMULATIONS = [
    simulate.linear_regression,
    simulate.logistic_regression,
    simulate.gaussian_mixture,
    simulate.auto_regression,
]


@pytest.mark.parametrize("simulation", SIMULATIONS)
def test_the_seed_determines_the_data(simulation):
    first, again, other = simulation(50, seed=3), simulation(50, seed=3), simulation(50, seed=4)
    for name, values in first.data.items():
        np.testing.assert_array_equal(values, again.data[name])
        assert not np.array_equal(values, other.data[name])
        assert len(values) == 50
        assert values.dtype in (np.float32, np.int32)


def test_least_squares_finds_the_linear_parameters():
    data, truth = simulate.linear_regression(20_000, noise_scale=0.5, seed=1)
    design = np.column_stack([data["x"], np.ones(20_000)])
    found = np.linalg.lstsq(design, data["y"], rcond=None)[0]
    np.testing.assert_allclose(found, [*truth["weights"], truth["bias"]], atol=5 * 0.5 / np.sqrt(20_000))
    assert np.std(data["y"] - design @ found) == pytest.approx(0.5, rel=4 / np.sqrt(2 * 20_000))


def test_least_squares_finds_the_auto_regressive_parameters():
    data, truth = simulate.auto_regression(20_000, order=2, seed=1)
    design = np.column_stack([data["x"], np.ones(20_000)])
    found = np.linalg.lstsq(design, data["y"], rcond=None)[0]
    np.testing.assert_allclose(found, [*truth["coefficients"], truth["intercept"]], atol=0.05)
    assert np.std(data["y"] - design @ found) == pytest.approx(1.0, rel=4 / np.sqrt(2 * 20_000))


def test_labels_follow_the_softmax():
    data, truth = simulate.logistic_regression(50_000, seed=1)
    logits = data["x"] @ truth["weights"].T + truth["bias"]
    probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    observed = np.bincount(data["y"], minlength=4) / 50_000
    error = np.sqrt((probabilities * (1 - probabilities)).mean(axis=0) / 50_000)
    assert (np.abs(observed - probabilities.mean(axis=0)) < 4 * error).all()


def test_mixture_moments():
    data, truth = simulate.gaussian_mixture(50_000, seed=1)
    mean = truth["weights"] @ truth["means"]
    variance = truth["weights"] @ (truth["variances"] + truth["means"] ** 2) - mean**2
    assert (np.abs(data["y"].mean(axis=0) - mean) < 4 * np.sqrt(variance / 50_000)).all()
    np.testing.assert_allclose(data["y"].var(axis=0), variance, rtol=5 * np.sqrt(2 / 50_000))


def test_the_shifting_mixture_adds_components_phase_by_phase():
    data, truth = simulate.shifting_mixture(seed=2)
    np.testing.assert_array_equal(truth["phase_ends"], [1000, 10_000, 100_000])
    np.testing.assert_allclose(truth["weights"].sum(axis=1), 1)
    np.testing.assert_array_equal((truth["weights"] > 0).sum(axis=1), [3, 5, 7])
    assert data["y"].shape == (100_000, 2)

    # Rows lie near the components of their phase, and some near the new ones as soon as these appear.
    distance = np.linalg.norm(data["y"][:, None, :] - truth["means"], axis=2)
    nearest = distance.argmin(axis=1)
    assert distance[:1000, :3].min(axis=1).max() < 5
    apart = 3  # the first component that the second phase adds stands apart from all others
    assert np.mean(nearest[:1000] == apart) < 0.01
    assert (np.bincount(nearest[1000:10_000], minlength=7)[:3] > 500).all(), "the first three stay"
    assert np.mean(nearest[1000:10_000] == apart) > 0.1

    gaps = np.linalg.norm(truth["means"][:, None] - truth["means"], axis=2) + 99 * np.eye(7)
    assert (gaps.min(axis=1) < 1.5).any(), "some components must overlap"


@pytest.mark.parametrize(
    "call", [lambda: simulate.linear_regression(0), lambda: simulate.shifting_mixture((5,), (3, 5))]
)
def test_impossible_sizes_are_refused(call):
    with pytest.raises(ConfigError, match="must"):
        call()
