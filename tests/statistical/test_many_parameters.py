"""Gradients carry the past, as they do where parameters are many: log Z against the exact one."""

import numpy as np
import pytest

import sgais
from sgais import simulate
from sgais.estimators.default import estimator
from sgais.estimators.default.phases.exact_phase import ExactPhase
from sgais.history import Memory
from sgais.models import LinearRegression
from sgais.smc.islands import Islands


def posterior_so_far(model, config, data, rows, seed):
    """A state whose particles are exact draws of the posterior, and whose log Z is exact: what follows is one phase."""
    first = {name: values[:rows] for name, values in data.items()}
    design = np.column_stack([first["x"], np.ones(rows)]).astype(np.float64)
    precision = np.eye(model.dimension) + design.T @ design
    mean = np.linalg.solve(precision, design.T @ first["y"])
    shape = config.num_islands, config.particles_per_island(100_000), model.dimension
    normal = np.random.default_rng(seed).normal(size=(config.num_particles, model.dimension))
    positions = mean + np.linalg.solve(np.linalg.cholesky(precision).T, normal.T).T
    so_far = np.full(config.num_islands, model.log_evidence(first))
    islands = Islands(positions.reshape(shape), np.zeros(shape[:2]), so_far)
    past = Memory()
    past.append(first)
    return estimator.State(islands, ExactPhase(np.ones(model.dimension)), None, rows, 1, rows, 0.0, ""), past


def go_on(model, config, data, start, chunk_size, seed):
    """From exact draws to the end of the data: the state, and whether gradients carried the past throughout."""
    state, past = posterior_so_far(model, config, data, start, seed)
    throughout, at = True, start
    while at < len(data["y"]):
        end = at + (16 if at == start else chunk_size)  # the first rows still come in the exact phase
        chunk = {name: values[at:end] for name, values in data.items()}
        state, _ = estimator.update(model, config, seed, state, chunk, past)
        past.append(chunk)
        throughout, at = throughout and state.gradient is not None, end
    return state, throughout


def test_twenty_thousand_rows_from_the_first():
    model = LinearRegression(dim=5)
    for seed in range(3):
        data = simulate.linear_regression(20_000, seed=seed).data
        evidence = sgais.OnlineEvidence(model, sgais.Config(largest_dimension=4), seed=seed)
        evidence.run(sgais.stream(data, 1000))
        assert evidence.records[-1].num_modes == 1
        assert evidence.standard_error < 1
        assert abs(evidence.log_evidence - model.log_evidence(data)) < 4 * evidence.standard_error
        assert abs(evidence.records[-1].kernel_bias) < 0.1
        assert not evidence.warning


def test_forty_parameters_in_the_mean_over_runs():
    """With so small a batch the gradients' noise would add a tenth of temperature: d/2 ln(20000/8192) / 10 = 2 nats."""
    model, config = LinearRegression(dim=39), sgais.Config(largest_dimension=4, batch_size=100)
    errors, bars = [], []
    for seed in range(8):
        data = simulate.linear_regression(20_016, dim=39, seed=seed).data
        state, throughout = go_on(model, config, data, 8192, 1000, seed)
        assert throughout
        assert state.gradient.batch_size == 100
        errors.append(state.estimate.log_evidence - model.log_evidence(data))
        bars.append(state.estimate.standard_error)
    assert np.abs(np.array(errors) / bars).max() < 4
    assert abs(np.mean(errors)) < 4 * np.mean(bars) / np.sqrt(len(errors))
    assert np.sqrt(np.mean(np.square(errors))) < 1.5


@pytest.mark.slow
def test_six_hundred_parameters():
    model, config = LinearRegression(dim=599), sgais.Config()
    data = simulate.linear_regression(20_016, dim=599, seed=1).data
    state, throughout = go_on(model, config, data, 16_000, 2000, 1)
    assert throughout
    assert abs(state.estimate.log_evidence - model.log_evidence(data)) < 4 * state.estimate.standard_error
    assert state.estimate.standard_error < 2
    assert abs(state.kernel_bias) < 1
