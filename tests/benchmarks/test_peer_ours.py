"""How many likelihoods and gradients our own methods have seen, where that can be told."""

import pytest

import sgais
from benchmarks.peers.adapters.ours import evaluations

ROWS = 2000


@pytest.fixture(scope="module")
def data():
    return sgais.simulate.linear_regression(ROWS, dim=2).data


MODEL = sgais.models.LinearRegression(dim=2)


def test_every_annealing_step_as_published_sees_the_chunk_once_and_forty_times_for_its_moves(data):
    result = sgais.estimate(MODEL, data, config=sgais.Config.paper())
    steps = [record.annealing_steps for record in result.records]
    likelihoods, gradients = evaluations(result, paper=True)
    expected = 10 * sum(steps) * 500 / ROWS
    assert likelihoods == round(expected)
    assert gradients == round(40 * expected), "20 steps on the chunk and on as many rows of the past"


def test_the_default_and_ais_do_not_tell(data):
    assert evaluations(sgais.estimate(MODEL, data), paper=False) == (None, None)
    assert evaluations(sgais.estimate(MODEL, data, "ais"), paper=False) == (None, None)
