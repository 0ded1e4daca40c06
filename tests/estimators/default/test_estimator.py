"""The default estimator, piece by piece; its accuracy is in statistical/."""

import numpy as np
import pytest

import sgais
from sgais import simulate
from sgais.approximation.modes.found import Found
from sgais.approximation.modes.newton import Mode
from sgais.compute.random_keys import KeySequence
from sgais.estimators.default import estimator as algorithm
from sgais.estimators.default import mode_bank, renewal
from sgais.estimators.default.context import UpdateContext
from sgais.estimators.default.diagnostics import UpdateDiagnostics
from sgais.estimators.default.outright import Outright
from sgais.estimators.default.phases import quadratic_moves, quadratic_phase
from sgais.estimators.default.replay import replayed
from sgais.history import Memory, Reservoir, RowView
from sgais.models import GaussianMixture, LinearRegression
from sgais.smc.islands import Islands, rebooked
from sgais.smc.weights import Estimate

MODEL = LinearRegression(dim=5)
DATA = simulate.linear_regression(3000, seed=1).data


def run(data, chunk_size, config=None, seed=0, model=MODEL):
    evidence = sgais.OnlineEvidence(model, config, seed=seed)
    for chunk in sgais.stream(data, chunk_size):
        evidence.update(chunk)
    return evidence


def test_particles_become_fewer_as_rows_become_more():
    """From 1024 while there are none; the first outright estimate needs no more than 384."""
    evidence = sgais.OnlineEvidence(MODEL)
    sizes = [len(evidence.log_weights)]
    for chunk in sgais.stream(simulate.linear_regression(6000, seed=1).data, 100):
        evidence.update(chunk)
        sizes.append(len(evidence.log_weights))
    assert (sizes[0], sizes[1], sizes[-1]) == (1024, 384, 128)
    assert sizes == sorted(sizes, reverse=True)


def test_surrogates_take_over_when_rows_are_enough():
    assert [record.num_modes for record in run(DATA, 500).records] == [0, 1, 1, 1, 1, 1]


def test_moves_come_when_they_pay():
    """QuadraticPhase, a chunk is only added to the surrogate; on a Gaussian posterior nothing is ever moved again."""
    evidence = run(DATA, 100)
    assert all(record.num_moves == 0 for record in evidence.records[10:])
    assert any(record.annealing_steps == 0 for record in evidence.records[10:])
    exact = MODEL.log_evidence_curve(DATA, range(100, 3001, 100))
    errors = np.array([record.log_evidence for record in evidence.records]) - exact
    assert np.ptp(errors[10:]) < 0.02, "the curve keeps its resolution between weighings"


def test_the_size_of_chunks_hardly_matters():
    found = [run(DATA, size).log_evidence for size in (100, 3000)]
    assert abs(found[0] - found[1]) < 1.5


def test_the_same_seed_gives_the_same_bits_and_another_does_not():
    first, second, other = run(DATA, 500), run(DATA, 500), run(DATA, 500, seed=1)
    assert first.log_evidence == second.log_evidence
    np.testing.assert_array_equal(first.particles["weights"], second.particles["weights"])
    assert first.log_evidence != other.log_evidence


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
def test_replays_go_on_until_the_change_is_long_ago(changed_at, replay_at):
    past = Memory()
    past.append(DATA)
    state = run(DATA, 500)._state._replace(changed_at=changed_at)
    found = replayed(context_of(MODEL, RowView(past, DATA), 9), state, past)
    assert (found.replay_at, found.changed_at) == (replay_at, changed_at if replay_at else 0)


def test_rows_of_another_kind_are_noticed_and_log_z_is_taken_outright():
    """Noise of twice the size from row 1000 on: the model stays the same, the rows become less likely."""
    data = {name: values.copy() for name, values in DATA.items()}
    fit = np.linalg.lstsq(np.c_[data["x"], np.ones(3000)], data["y"], rcond=None)[0]
    residuals = data["y"] - np.c_[data["x"], np.ones(3000)] @ fit
    data["y"][1000:] += residuals[1000:]
    evidence = run(data, 250)
    state, last = evidence._state, evidence.records[-1]
    assert 1000 < state.changed_at <= 1500
    assert state.outright_at >= state.changed_at
    assert last.warning == "", "log Z owes nothing to the way there"
    assert abs(last.log_evidence - MODEL.log_evidence(data)) < 4 * last.standard_error
    assert last.standard_error < 0.1


def test_an_update_changes_neither_state_nor_past():
    state = algorithm.init(MODEL, sgais.Config(), 0)
    chunk = {name: values[:200] for name, values in DATA.items()}
    first, _ = algorithm.update(MODEL, sgais.Config(), 0, state, chunk, Memory())
    second, _ = algorithm.update(MODEL, sgais.Config(), 0, state, chunk, Memory())
    assert state.num_rows == 0
    assert first.estimate.log_evidence == second.estimate.log_evidence


def test_particles_follow_the_surrogate_between_weighings():
    """Read in the middle of a stretch: they stand for all rows, not only those of the last weighing."""
    evidence = run(DATA, 1000)
    evidence.update({name: values[:700] for name, values in simulate.linear_regression(700, seed=9).data.items()})
    rows = {name: np.concatenate([DATA[name], simulate.linear_regression(700, seed=9).data[name]]) for name in DATA}
    design = np.column_stack([rows["x"], np.ones(3700)]).astype(float)
    precision = design.T @ design + np.eye(6)
    centre = np.linalg.solve(precision, design.T @ rows["y"])
    found = np.average(
        np.column_stack([evidence.particles["weights"], evidence.particles["bias"]]),
        axis=0,
        weights=np.exp(evidence.log_weights),
    )
    spreads = np.sqrt(np.diag(np.linalg.inv(precision)))
    assert np.abs((found - centre) / spreads).max() < 5 / np.sqrt(64)


def context_of(model, rows, number):
    return UpdateContext(model, sgais.Config(), rows, KeySequence(0, number), UpdateDiagnostics())


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


def test_no_compilation_for_small_chunks_of_new_sizes(compilations):
    model = LinearRegression(dim=2, noise_scale=1.25)  # no other test has compiled it
    data = simulate.linear_regression(400, dim=2).data
    run(data, 32, model=model)
    first = len(compilations)
    assert first > 0
    evidence = sgais.OnlineEvidence(model)
    for rows in np.split(np.arange(250), np.cumsum([20, 32, 16, 30, 31, 17, 3, 1, 29, 32, 20])):
        evidence.update({name: values[rows] for name, values in data.items()})
    assert len(compilations) == first


def joined(model, positions, rows):
    """Particles (n, d) that join the surrogates of the modes that are found, and Laplace's evidence of these."""
    posterior = mode_bank.posterior_of(model, rows, np.random.default_rng(0))
    found = mode_bank.look_for_modes(posterior, positions, np.zeros((0, model.dimension)), 0, True)
    whole = RowView(Memory(), rows)
    context = context_of(model, whole, 1)
    started = quadratic_phase.start(context, mode_bank.worth_a_surrogate(posterior, found), whole.num_rows)
    islands = Islands.of(positions.reshape(8, -1, model.dimension))
    return quadratic_phase.joined(context, started, islands), found.log_evidence


def test_particles_that_join_surrogates_have_their_labels_sorted():
    """Particles around one mode, each in an order of its own, come out around one anchor."""
    model = GaussianMixture(components=3, dim=1)
    y = np.concatenate([np.random.default_rng(k).normal(m, 0.5, 400) for k, m in enumerate([-5, 0, 5])])
    rows = {"y": y.astype(np.float32)[:, None]}
    generator = np.random.default_rng(0)
    positions = np.array(
        [
            model.unconstrain(
                {
                    "weights": np.full(3, 1 / 3),
                    "variances": np.full((3, 1), 0.25),
                    "means": generator.permutation([-5.0, 0.0, 5.0])[:, None] + generator.normal(0, 0.02, (3, 1)),
                }
            )
            for _ in range(32)
        ],
        np.float64,
    )
    found, evidence = joined(model, positions, rows)
    assert found is not None
    started, islands = found
    assert (started.modes == 0).all()
    means = np.asarray([model.constrain(position)["means"][:, 0] for position in islands.all_positions])
    assert np.abs(means - means[0]).max() < 0.2
    reference = sgais.estimate(model, rows, method="laplace")
    assert evidence == pytest.approx(reference.log_evidence, abs=0.5)


def test_modes_are_told_of_even_where_particles_are_not_near_them():
    """All but a few particles are far from the only mode: they cannot join it, but its evidence is known."""
    rows = simulate.linear_regression(500, seed=1).data
    positions = np.random.default_rng(0).normal(0, 5, (64, MODEL.dimension))
    found, evidence = joined(MODEL, positions, rows)
    assert found is None
    assert abs(evidence - MODEL.log_evidence(rows)) < 0.5


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


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_particles": 100}, "`num_particles` must be a multiple of num_islands = 8, got 100"),
        ({"num_islands": 1}, "`num_islands` must"),
        ({"target_ess_fraction": 1.0}, "`target_ess_fraction` must"),
        ({"kernel": sgais.SGHMC()}, "`kernel` must be a sgais.Langevin"),
        ({"early_kernel": sgais.SGHMC()}, "`early_kernel` must be a sgais.HMC"),
        ({"batch_size": 1}, "`batch_size` must"),
    ],
)
def test_impossible_settings_are_refused(changes, message):
    with pytest.raises(sgais.ConfigError, match=message):
        sgais.Config(**changes)
