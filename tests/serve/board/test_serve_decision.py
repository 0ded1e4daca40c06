"""The page says what may be said against a null."""

import sgais
from sgais.models import LinearRegression
from sgais.monitoring.snapshot import snapshot_of
from sgais.serve.board.board import ENDED, LOCAL, Board


def test_the_page_shows_a_decision_where_one_was_asked_for():
    models = {"same": LinearRegression(dim=2, features=(0,)), "differs": LinearRegression(dim=2)}
    comparison, board = sgais.Comparison(models), Board(LOCAL, "both", list(models), 100)
    comparison.run(sgais.stream(sgais.simulate.linear_regression(200, dim=2, seed=1).data, 100))
    board.note(snapshot_of(comparison))
    assert board.state()["message"] == ""
    decision = comparison.decide(null="same")
    board.note(snapshot_of(comparison)._replace(decision=decision))
    assert board.state()["message"] == f"Decision: {decision}."
    board.end()
    assert (board.state()["status"], board.state()["message"]) == (ENDED, f"Decision: {decision}.")
