"""Log Z outright: which of two numbers is believed, and what is said of them."""

import numpy as np
import pytest
from streamed import DATA, MODEL, run

import sgais
from sgais.approximation.modes.newton import Mode
from sgais.approximation.modes.unseen_modes import Found
from sgais.estimators.default import estimator as algorithm
from sgais.estimators.default import renewal
from sgais.estimators.default.outright import Outright
from sgais.estimators.default.phases import quadratic_phase
from sgais.history import Memory
from sgais.smc.islands import Islands, rebooked
from sgais.smc.weights import Estimate

SOME = {name: values[:200] for name, values in DATA.items()}


def some_islands(log_evidence, error=0.1):
    return rebooked(Islands.of(np.zeros((8, 4, 6))), Estimate(log_evidence, error))


def on_a_path(error):
    """Twenty steps long."""
    islands = some_islands(-100.0, error)
    return algorithm.init(MODEL, sgais.Config(), 0)._replace(islands=islands, path_length=20, num_rows=200)


@pytest.mark.parametrize(
    ("gap", "error", "steps", "is_believed"),
    [
        (0.0, 0.1, 2, True),  # the shorter way
        (0.0, 0.1, 15, False),
        (0.0, 1.0, 2, False),  # but less certain
        (2.0, 0.1, 15, True),  # the path has missed a mode, whichever way is shorter
        (24.0, 0.17, 15, True),
        (0.4, 0.1, 15, False),  # by chance
    ],
)
def test_of_two_ways_to_log_z_the_larger_is_believed_or_else_the_shorter(gap, error, steps, is_believed):
    fresh = Outright(some_islands(-100.0 + gap, error), steps)
    assert renewal._is_better(fresh, on_a_path(0.1)) == is_believed


@pytest.mark.parametrize(
    ("gap", "error", "steps", "is_told"),
    [
        (0.0, 0.1, 2, False),
        (-3.0, 0.1, 2, True),  # lower than the path: never to be expected, whichever way is shorter
        (-2.0, 0.5, 2, False),  # within the errors
        (2.0, 0.1, 15, False),  # the path has missed something, and is forgotten
        (2.0, 0.1, 2, False),
    ],
)
def test_two_ways_to_log_z_that_disagree_are_told_of(gap, error, steps, is_told):
    state = on_a_path(error)
    words = renewal._disagreement(Outright(some_islands(-100.0 + gap, error), steps), state)
    assert bool(words) == is_told
    if is_told:
        assert f"after 200 rows two ways to log Z are {abs(gap):.1f} nats apart" in words
        assert "-100.00" in words
        assert f"{-100.0 + gap:.2f}" in words


def test_a_path_that_has_gone_wrong_is_set_right_and_told_of_until_the_next_estimate():
    """Its evidence is too high by five nats, of which the particles know nothing."""
    past, evidence = Memory(), run(SOME, 200)
    past.append(SOME)
    state = evidence._state
    assert state.warning == state.disagreement == ""
    wrong = state._replace(islands=rebooked(state.islands, Estimate(evidence.log_evidence + 5.0, 0.05)))
    chunk = {name: values[200:300] for name, values in DATA.items()}
    found, _ = algorithm.update(MODEL, sgais.Config(), 0, wrong, chunk, past)
    assert "two ways to log Z are" in found.disagreement
    assert found.disagreement in found.warning
    exact = MODEL.log_evidence_curve(DATA, [300, 450])
    assert abs(found.estimate.log_evidence - exact[0]) < 4 * found.estimate.standard_error
    past.append(chunk)
    later, _ = algorithm.update(
        MODEL, sgais.Config(), 0, found, {name: values[300:450] for name, values in DATA.items()}, past
    )
    assert later.disagreement == later.warning == ""
    assert abs(later.estimate.log_evidence - exact[1]) < 4 * later.estimate.standard_error


def test_a_path_that_is_too_low_is_set_right_without_words():
    past, state = Memory(), run(SOME, 200)._state
    past.append(SOME)
    low = Estimate(state.estimate.log_evidence - 5.0, 0.05)
    wrong = state._replace(islands=rebooked(state.islands, low), path_length=100)
    chunk = {name: values[200:300] for name, values in DATA.items()}
    found, _ = algorithm.update(MODEL, sgais.Config(), 0, wrong, chunk, past)
    assert found.warning == ""
    assert (
        abs(found.estimate.log_evidence - MODEL.log_evidence_curve(DATA, [300])[0]) < 4 * found.estimate.standard_error
    )
    assert found.path_length < 100


@pytest.mark.parametrize(
    ("num_rows", "starts", "behind", "is_told"),
    [(1000, 1, 0.0, True), (1000, 2, 0.0, False), (100, 1, 0.0, False), (1000, 1, 20.0, False)],
)
def test_modes_that_may_be_missing_are_told_of_where_modes_hold_the_evidence(num_rows, starts, behind, is_told):
    """Hit once; where rows are few, or the particles know of far more evidence, it does not matter."""
    mode = Mode(np.zeros(6), -90.0, np.eye(6), True, 3, starts)
    state = algorithm.init(MODEL, sgais.Config(), 0)._replace(islands=some_islands(-100.0 + behind), num_rows=num_rows)
    found = renewal._doubting(state, Found((mode,), np.array([-100.0]), 8, int(starts == 1)), 384)
    assert found.searched_at == num_rows
    assert bool(found.doubt) == (found.mode_doubt > 0) == is_told
    if is_told:
        assert found.doubt.startswith("after 1000 rows only one start found the best mode")
        assert found.mode_doubt == pytest.approx(np.log(2.0))


def test_the_doubt_of_a_search_stands_in_the_record_until_the_next_one():
    evidence = run({name: values[:1000] for name, values in DATA.items()}, 500)
    evidence._state = evidence._state._replace(doubt="there may be more", mode_doubt=0.7)
    record = evidence.update({name: values[1000:1100] for name, values in DATA.items()})
    assert record.mode_doubt == 0.7
    assert record.warning == "there may be more"


def test_particles_are_drawn_anew_with_log_z():
    """Those that have gone astray, all by two standard deviations, would take log Z of the next rows with them."""
    past = Memory()
    past.append({name: values[:1000] for name, values in DATA.items()})
    state = run({name: values[:1000] for name, values in DATA.items()}, 500)._state
    positions = state.islands.positions
    aside = 2 * positions.reshape(-1, 6).std(axis=0)
    chunk = {name: values[1000:3000] for name, values in DATA.items()}
    astray = state._replace(islands=state.islands._replace(positions=positions + aside))
    found, _ = algorithm.update(MODEL, sgais.Config(), 0, astray, chunk, past)
    assert found.outright_at > 1000
    after = algorithm.positions_now(found)
    off = (after.mean(axis=0) - quadratic_phase.centres(found.quadratic)[0]) / after.std(axis=0)
    assert np.abs(off).max() < 5 / np.sqrt(len(after))
