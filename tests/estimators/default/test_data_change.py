"""Changes of the data, as one particle sees them."""

import numpy as np
import pytest

import sgais
from sgais.compute.random_keys import KeySequence
from sgais.estimators.default.data_change import has_changed
from sgais.history import Memory, RowView

MODEL = sgais.models.LinearRegression(dim=5)


def stretch(data):
    past = Memory()
    past.append(data)
    return RowView(past, {name: values[:0] for name, values in data.items()})


def stream(seed=0, noise=1.0, outlier=0.0, rows=2000):
    """Rows, the second half with another noise, and the parameters that the first were drawn with."""
    simulation = sgais.simulate.linear_regression(rows, seed=seed)
    data = {name: values.copy() for name, values in simulation.data.items()}
    position = np.asarray(MODEL.unconstrain(simulation.parameters))
    residuals = data["y"] - data["x"] @ simulation.parameters["weights"] - simulation.parameters["bias"]
    data["y"][rows // 2 :] += (noise - 1.0) * residuals[rows // 2 :]
    data["y"][3 * rows // 4] += outlier
    return stretch(data), position


def found(rows, position, ends=(1000, 2000)):
    return has_changed(MODEL, position, rows, ends, KeySequence(0, 1))


@pytest.mark.parametrize("noise", [0.7, 1.4])
def test_rows_that_are_less_likely_or_more_are_a_change(noise):
    assert found(*stream(noise=noise))


def test_rows_of_the_same_kind_are_none():
    """A difference of 7 standard errors does not come by chance."""
    assert not any(found(*stream(seed)) for seed in range(50))


def test_one_absurd_row_is_none():
    assert not found(*stream(outlier=1e4))


def test_a_few_new_rows_are_seen_together_with_those_before_them():
    rows, position = stream(noise=2.0)
    assert not found(rows, position, (1000, 1010))
    assert found(rows, position, (1200, 1256))


def test_a_small_change_is_seen_once_an_eighth_of_the_rows_has_it():
    """Each piece is too short to show it."""
    rows, position = stream(noise=1.25, rows=20_000)
    assert not found(rows, position, (10_000, 10_256))
    assert any(found(rows, position, (end - 256, end)) for end in range(10_256, 12_000, 256))


def test_before_there_are_rows_enough_nothing_is_said():
    rows, position = stream(noise=2.0)
    assert not found(rows, position, (0, 1500))
    assert not found(rows, position, (40, 2000))
