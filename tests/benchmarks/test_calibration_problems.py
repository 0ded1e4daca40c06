"""Every problem of the calibration suite can be built, and its likelihood be computed."""

import jax
import numpy as np
import pytest

from benchmarks.calibration.problem import REPORT, TUNING, head, length, plan
from benchmarks.calibration.suite import chosen, halves, model_of, rows_of, suite
from sgais.models.reading import read

DRAWS = 8


def finite_share(name, positions_of):
    """The share of positions at which the first rows have a finite likelihood."""
    some = head(rows_of(name), 16)
    reading = read(model_of(name), None, some)
    model = model_of(name).bind(some) if reading.reader is None else reading.reader.model
    logs = jax.vmap(model.log_likelihood_at, in_axes=(0, None))(positions_of(model), reading.columns)
    assert logs.shape == (DRAWS, len(some["y"]))
    return np.isfinite(logs).all(axis=1).mean()


@pytest.mark.parametrize("name", suite())
def test_the_likelihood_is_finite(name):
    """Any positions will do: draws from the prior would have to be compiled first."""
    generator = np.random.default_rng(0)
    assert finite_share(name, lambda model: generator.normal(size=(DRAWS, model.dimension)).astype(np.float32)) > 0.5


@pytest.mark.slow
@pytest.mark.parametrize("name", suite())
def test_the_likelihood_is_finite_at_draws_from_the_prior(name):
    assert finite_share(name, lambda model: model.sample_prior(jax.random.key(0), DRAWS)) > 0.5


def test_there_are_many_problems_and_each_family_is_in_both_halves():
    families = {problem.family for problem in suite().values()}
    assert len(suite()) >= 44
    assert len(families) >= 13
    for family in families:
        assert {halves()[problem.name] for problem in chosen([family])} == {TUNING, REPORT}


def test_rows_are_the_same_every_time():
    for problem in chosen(["mixture, small", "hierarchical"]):
        again = problem.rows()
        assert all(np.array_equal(again[column], values) for column, values in rows_of(problem.name).items())


@pytest.mark.parametrize("num_rows", [8, 32, 100, 400, 944, 20_190])
def test_chunks_end_at_the_quarters(num_rows):
    chunk, checkpoints = plan(num_rows)
    ends = {*range(chunk, num_rows, chunk), num_rows}
    assert set(checkpoints) <= ends
    assert chunk <= 500
    assert np.allclose(np.array(checkpoints) / num_rows, [0.25, 0.5, 0.75, 1.0], atol=0.03)


def test_orders_of_the_same_rows_are_the_same_rows():
    for first, second in (("logistic, affairs, shuffled", "logistic, affairs, as in the file"),):
        assert length(rows_of(first)) == length(rows_of(second))
        assert rows_of(first)["y"].sum() == rows_of(second)["y"].sum()
