"""Every estimator that is registered runs this suite by existing: the contract of `sgais.estimators.base`."""

import jax
import numpy as np
import pytest

import sgais
from sgais import checkpoint, simulate
from sgais.estimators.registry import ESTIMATORS
from sgais.fields import check_chunk
from sgais.history import Memory
from sgais.models import LinearRegression
from sgais.online import SAVED_TYPES

MODEL = LinearRegression(dim=2)
DATA = simulate.linear_regression(300, dim=2, seed=4).data
CHUNKS = [check_chunk(chunk, MODEL.fields, np.dtype(np.float32)) for chunk in sgais.stream(DATA, 100)]
SEED = 3
FEW = {"Config": {"num_particles": 32, "num_islands": 4}}  # to be quick


def run(kind, chunks):
    """The estimator, its parameters, the state behind these chunks, what each told, and the past."""
    estimator, config = ESTIMATORS[kind], kind(**FEW.get(kind.__name__, {}))
    state, past, told = estimator.init(MODEL, config, SEED), Memory(), []
    for chunk in chunks:
        state, info = estimator.update(MODEL, config, SEED, state, chunk, past)
        past.append(chunk)
        told.append(info)
    return estimator, config, state, told, past


@pytest.fixture(scope="module", params=ESTIMATORS, ids=lambda kind: kind.__name__)
def behind_two_chunks(request):
    return run(request.param, CHUNKS[:2])


def bits(state):
    return [np.asarray(leaf).tobytes() if not isinstance(leaf, str) else leaf for leaf in jax.tree.leaves(state)]


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_it_begins_with_the_prior_and_certainty(kind):
    estimator, _, state, _, _ = run(kind, [])
    assert (state.num_rows, state.num_chunks, state.kernel_bias, state.warning) == (0, 0, 0.0, "")
    assert tuple(state.estimate) == (0.0, 0.0)
    assert abs(estimator.positions_now(state).mean()) < 1.0


def test_a_state_knows_its_rows_and_its_evidence(behind_two_chunks):
    _, _, state, told, _ = behind_two_chunks
    assert (state.num_rows, state.num_chunks) == (200, 2)
    exact = MODEL.log_evidence({name: values[:200] for name, values in DATA.items()})
    assert abs(state.estimate.log_evidence - exact) < 12.0  # ten particles as published are that far off
    assert all(info.annealing_steps >= 1 and info.num_moves >= 1 for info in told)


def test_an_update_is_pure_and_repeats_every_bit(behind_two_chunks):
    estimator, config, state, _, past = behind_two_chunks
    before, rows = bits(state), past.num_rows
    first, told = estimator.update(MODEL, config, SEED, state, CHUNKS[2], past)
    second, again = estimator.update(MODEL, config, SEED, state, CHUNKS[2], past)
    assert bits(first) == bits(second)
    np.testing.assert_array_equal(told, again)
    assert bits(state) == before
    assert past.num_rows == rows


def test_the_seed_determines_the_numbers(behind_two_chunks):
    estimator, config, state, _, past = behind_two_chunks
    one, _ = estimator.update(MODEL, config, SEED, state, CHUNKS[2], past)
    other, _ = estimator.update(MODEL, config, SEED + 1, state, CHUNKS[2], past)
    assert bits(one) != bits(other)


def test_particles_weights_and_islands_are_the_same_particles(behind_two_chunks):
    estimator, _, state, _, _ = behind_two_chunks
    positions, log_weights = estimator.positions_now(state), estimator.log_weights_now(state)
    assert positions.shape == (len(log_weights), MODEL.dimension)
    by_island, weights_by_island = estimator.islands_now(state)
    np.testing.assert_array_equal(by_island.reshape(positions.shape), positions)
    np.testing.assert_array_equal(weights_by_island.ravel(), log_weights)


def test_a_chunk_is_predicted_about_as_well_as_it_turns_out(behind_two_chunks):
    estimator, config, state, _, past = behind_two_chunks
    predicted = estimator.log_predictive(MODEL, state, CHUNKS[2])
    after, _ = estimator.update(MODEL, config, SEED, state, CHUNKS[2], past)
    assert abs(predicted - (after.estimate.log_evidence - state.estimate.log_evidence)) < 12.0


def test_its_states_are_saved_and_go_on_bit_for_bit(behind_two_chunks, tmp_path):
    estimator, config, state, _, past = behind_two_chunks
    checkpoint.write(tmp_path / "state", {"state": state, "config": config})
    content = checkpoint.read(tmp_path / "state", SAVED_TYPES)
    assert content["config"] == config
    assert bits(content["state"]) == bits(state)
    expected, _ = estimator.update(MODEL, config, SEED, state, CHUNKS[2], past)
    resumed, _ = estimator.update(MODEL, config, SEED, content["state"], CHUNKS[2], past)
    assert bits(resumed) == bits(expected)
