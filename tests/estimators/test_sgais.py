"""The default estimator, piece by piece; its accuracy is in statistical/."""

import numpy as np
import pytest

import sgais
from sgais import simulate
from sgais.estimators import late
from sgais.estimators import sgais as algorithm
from sgais.estimators.account import Account
from sgais.estimators.anchoring import anchor
from sgais.estimators.particles import Places
from sgais.history import Memory, Reservoir, WithChunk
from sgais.kernels import Langevin
from sgais.models import GaussianMixture, LinearRegression

MODEL = LinearRegression(dim=5)
DATA = simulate.linear_regression(3000, seed=1).data


def run(data, chunk_size, config=None, seed=0, model=MODEL):
    evidence = sgais.OnlineEvidence(model, config, seed=seed)
    for chunk in sgais.stream(data, chunk_size):
        evidence.update(chunk)
    return evidence


def test_particles_become_fewer_as_rows_become_more():
    evidence, sizes = sgais.OnlineEvidence(MODEL), []
    for chunk in sgais.stream(simulate.linear_regression(6000, seed=1).data, 100):
        evidence.update(chunk)
        sizes.append(len(evidence.log_weights))
    assert (sizes[0], sizes[1], sizes[-1]) == (1536, 512, 128)
    assert sizes == sorted(sizes, reverse=True)


def test_surrogates_take_over_when_rows_are_enough():
    assert [record.num_modes for record in run(DATA, 500).records] == [0, 1, 1, 1, 1, 1]


def test_moves_come_when_they_pay():
    """Late, a chunk is only added to the surrogate; on a Gaussian posterior nothing is ever moved again."""
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
        assert (info.correction != 0) == is_replayed == ("changed at row 1250" in found.warning)
        assert found.num_rows == 3000
        assert found.estimate.log_evidence - MODEL.log_evidence(DATA) < 4 * found.estimate.standard_error
        own = found.estimate.log_evidence - changed.estimate.log_evidence - info.correction
        curve = MODEL.log_evidence_curve(DATA, [2500, 3000])
        assert abs(own - (curve[1] - curve[0])) < 0.05, "what the replay sets right is not put to the chunk's account"
        assert info.annealing_steps <= 2


def test_after_a_replay_the_particles_stand_for_all_rows():
    """Their order is not that of the stream: whatever stands for some of the rows only would now mean others."""
    past = Memory()
    past.append(DATA)
    state = run(DATA, 500)._state._replace(changed_at=1500)
    found = algorithm._replayed(MODEL, sgais.Config(), 0, state, DATA, past, Places(0, 9), Account())
    assert found.late is not None
    assert found.late.num_rows_then == found.num_rows == 3000


@pytest.mark.parametrize(("changed_at", "replay_at"), [(1500, 6000), (188, 6000), (187, 0)])
def test_replays_go_on_until_the_change_is_long_ago(changed_at, replay_at):
    past = Memory()
    past.append(DATA)
    state = run(DATA, 500)._state._replace(changed_at=changed_at)
    found = algorithm._replayed(MODEL, sgais.Config(), 0, state, DATA, past, Places(0, 9), Account())
    assert (found.replay_at, found.changed_at) == (replay_at, changed_at if replay_at else 0)


def test_rows_of_another_kind_are_noticed_and_replayed():
    """Noise of twice the size from row 1000 on: the model stays the same, the rows become less likely."""
    data = {name: values.copy() for name, values in DATA.items()}
    fit = np.linalg.lstsq(np.c_[data["x"], np.ones(3000)], data["y"], rcond=None)[0]
    residuals = data["y"] - np.c_[data["x"], np.ones(3000)] @ fit
    data["y"][1000:] += residuals[1000:]
    records = run(data, 250).records
    first = next(record for record in records if record.warning)
    assert 1000 < first.num_rows <= 1500
    assert sum(record.correction != 0 for record in records) == 1
    assert "changed at row" in records[-1].warning, "it may have to be set right again"
    assert abs(records[-1].log_evidence - MODEL.log_evidence(data)) < 4 * records[-1].standard_error


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


def late_move(evidence, data):
    state, rows = evidence._state, WithChunk(evidence._history, {name: values[:1] for name, values in data.items()})
    moved = late.move(evidence._model, Langevin(), state.late, state.islands, rows, Places(0, 9), Account())
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


def test_anchoring_sorts_the_labels_of_a_mixture():
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
    search = anchor(model, positions, rows, seed=0)
    found = search.anchored
    assert found is not None
    assert (found.modes == 0).all()
    means = np.asarray([model.constrain(position)["means"][:, 0] for position in found.positions])
    assert np.abs(means - means[0]).max() < 0.2
    reference = sgais.estimate(model, rows, method="laplace")
    assert search.log_evidence == pytest.approx(reference.log_evidence, abs=0.5)


def test_modes_are_told_of_even_where_particles_are_not_near_them():
    """All but a few particles are far from the only mode: nothing to anchor them at, but its evidence is known."""
    rows = simulate.linear_regression(500, seed=1).data
    positions = np.random.default_rng(0).normal(0, 5, (64, MODEL.dimension))
    search = anchor(MODEL, positions, rows, seed=0)
    assert search.anchored is None
    assert abs(search.log_evidence - MODEL.log_evidence(rows)) < 0.5


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
