"""Moves of the quadratic phase are one compiled program, made before memory is short."""

from streamed import context_of, run

import sgais
from sgais import simulate
from sgais.estimators.default.phases import quadratic_moves
from sgais.history import Reservoir, RowView
from sgais.models import LinearRegression


def late_move(evidence, data):
    state, rows = evidence._state, RowView(evidence._history, {name: values[:1] for name, values in data.items()})
    moved = quadratic_moves.move(context_of(evidence._model, rows, 9), state.quadratic, state.islands)
    assert moved is not None


def test_a_late_move_is_one_program(compilations):
    """Not a dozen small ones besides, each of which takes memory for good."""
    data = simulate.linear_regression(3000, dim=2).data
    evidence = run(data, 3000, model=LinearRegression(dim=2, noise_scale=1.75))  # no other test has compiled it
    before = len(compilations)
    late_move(evidence, data)
    assert len(compilations) == before + 1


def test_where_memory_is_bounded_the_first_move_needs_no_more_of_it(compilations):
    """It may come after millions of rows: by then its program has long been there."""
    data = simulate.linear_regression(8000, dim=2).data
    evidence = sgais.OnlineEvidence(LinearRegression(dim=2, noise_scale=1.625), history=Reservoir(2000))
    evidence.run(sgais.stream(data, 1000))
    before = len(compilations)
    late_move(evidence, data)
    assert len(compilations) == before
