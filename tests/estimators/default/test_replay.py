"""After a change of the data: all rows replayed in random order."""

import pytest
from streamed import DATA, MODEL, context_of, run

import sgais
from sgais.estimators.default import estimator as algorithm
from sgais.estimators.default.replay import replayed
from sgais.history import Memory, RowView


def test_rows_are_replayed_in_another_order_once_a_change_lies_far_enough_back():
    past, chunk = Memory(), {name: values[2500:] for name, values in DATA.items()}
    past.append({name: values[:2500] for name, values in DATA.items()})
    state = run({name: values[:2500] for name, values in DATA.items()}, 500)._state
    for replay_at, is_replayed in ((0, False), (2501, False), (2500, True)):
        changed = state._replace(changed_at=1250, replay_at=replay_at, warning="changed")
        found, info = algorithm.update(MODEL, sgais.Config(), 0, changed, chunk, past)
        assert (info.correction != 0) == is_replayed
        is_outright = found.outright_at == 3000  # log Z then owes nothing to the change, and nothing is said of it
        assert not is_replayed or is_outright != ("changed at row 1250" in found.warning)
        assert found.num_rows == 3000
        assert found.estimate.log_evidence - MODEL.log_evidence(DATA) < 4 * found.estimate.standard_error
        own = found.estimate.log_evidence - changed.estimate.log_evidence - info.correction
        curve = MODEL.log_evidence_curve(DATA, [2500, 3000])
        assert abs(own - (curve[1] - curve[0])) < 0.05, (
            "what the replay sets right is not put to the chunk's diagnostics"
        )
        assert info.annealing_steps <= 2


def test_after_a_replay_the_particles_stand_for_all_rows():
    """Their order is not that of the stream: whatever stands for some of the rows only would now mean others."""
    past = Memory()
    past.append(DATA)
    state = run(DATA, 500)._state._replace(changed_at=1500)
    found = replayed(context_of(MODEL, RowView(past, DATA), 9), state, past)
    assert found.quadratic is not None
    assert found.quadratic.num_rows_then == found.num_rows == 3000


@pytest.mark.parametrize(("changed_at", "replay_at"), [(1500, 6000), (188, 6000), (187, 0)])
def test_replays_continue_until_the_change_is_long_ago(changed_at, replay_at):
    past = Memory()
    past.append(DATA)
    state = run(DATA, 500)._state._replace(changed_at=changed_at)
    found = replayed(context_of(MODEL, RowView(past, DATA), 9), state, past)
    assert (found.replay_at, found.changed_at) == (replay_at, changed_at if replay_at else 0)
