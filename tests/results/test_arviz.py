"""What goes to ArviZ: draws of equal weight, a chain for each island, and the evidence curve."""

import arviz
import numpy as np
import pytest
from matplotlib import pyplot

import sgais
from sgais import simulate
from sgais.models import LinearRegression
from sgais.results.arviz import by_parameter, equally_weighted

MODEL = LinearRegression(dim=2)
IS_FIRST_GENERATION = arviz.__version__.startswith("0.")
DATA = simulate.linear_regression(1500, dim=2, seed=5).data


def run(config=None, num_chunks=3):
    evidence = sgais.OnlineEvidence(MODEL, config, seed=7)
    for chunk in list(sgais.stream(DATA, 500))[:num_chunks]:
        evidence.update(chunk)
    return evidence


@pytest.fixture(scope="module")
def evidence():
    return run()


def test_a_chain_for_each_island(evidence):
    posterior = evidence.to_arviz().posterior
    num_islands = evidence.config.num_islands
    assert posterior.sizes["chain"] == num_islands
    assert posterior.sizes["chain"] * posterior.sizes["draw"] == len(evidence.log_weights)
    assert set(posterior.data_vars) == {"weights", "bias"}
    particles = evidence.particles["bias"].reshape(num_islands, -1)
    for island, draws in zip(particles, posterior["bias"].values, strict=True):
        assert set(draws) <= set(island)


def test_draws_have_the_weighted_mean_and_spread_of_the_posterior(evidence):
    design = np.column_stack([DATA["x"], np.ones(1500)])
    precision = design.T @ design + np.eye(3)
    mean = np.linalg.solve(precision, design.T @ DATA["y"])
    posterior = evidence.to_arviz().posterior
    draws = np.column_stack([posterior["weights"].values.reshape(-1, 2), posterior["bias"].values.ravel()])
    deviations = np.sqrt(np.diag(np.linalg.inv(precision)))
    effective = sgais.annealing.effective_sample_size(evidence.log_weights)
    assert (np.abs(draws.mean(axis=0) - mean) < 4 * deviations / np.sqrt(effective)).all()
    np.testing.assert_allclose(draws.std(axis=0), deviations, rtol=4 / np.sqrt(2 * effective))


def test_each_island_is_resampled_by_its_own_weights():
    positions = np.arange(2 * 4 * 3, dtype=float).reshape(2, 4, 3)
    log_weights = np.log([[0.5, 0.5, 1e-300, 1e-300], [1e-300, 0.25, 0.25, 0.5]]) + np.array([[900.0], [-900.0]])
    bias = by_parameter(MODEL, equally_weighted(positions, log_weights))["bias"]
    where = {float(value): number for number, value in enumerate(by_parameter(MODEL, positions)["bias"].flat)}
    drawn = np.vectorize(lambda value: where[float(value)])(bias)
    np.testing.assert_array_equal(drawn, [[0, 0, 1, 1], [5, 6, 7, 7]])


def test_the_curve_is_a_group_over_chunks(evidence):
    group = evidence.to_arviz()["evidence"]
    frame = evidence.to_frame()
    assert dict(group.sizes) == {"chunk": 3}
    for name in ("num_rows", "log_evidence", "standard_error", "increment", "annealing_steps"):
        np.testing.assert_array_equal(group[name], frame[name])


def test_attributes_tell_what_the_draws_belong_to(evidence):
    attributes = evidence.to_arviz().posterior.attrs
    assert attributes["log_evidence"] == evidence.log_evidence
    assert attributes["standard_error"] == evidence.standard_error
    assert attributes["warning"] == ""
    assert attributes["seed"] == 7


@pytest.mark.filterwarnings("ignore:Passing a dict or None as alias_mapping")  # ArviZ 0.23 on Matplotlib 3.11
def test_arviz_summarises_and_plots_it(evidence):
    data = evidence.to_arviz()
    summary = arviz.summary(data)
    assert set(summary.index) == {"bias", "weights[0]", "weights[1]"}
    assert (summary["r_hat"].astype(float) < 1.2).all()
    pyplot.switch_backend("agg")
    drawn = arviz.plot_trace(data)
    if IS_FIRST_GENERATION:
        assert drawn.shape == (2, 2)
    else:
        arviz.plot_dist(data)
        assert set(drawn.viz["plot"].data_vars) == {"bias", "weights"}
    pyplot.close("all")


def test_it_is_what_the_installed_generation_reads(evidence):
    kind = "InferenceData" if IS_FIRST_GENERATION else "DataTree"
    assert type(evidence.to_arviz()).__name__ == kind


def test_asking_twice_gives_the_same_draws_and_changes_nothing(evidence):
    before = evidence.log_weights
    first, second = evidence.to_arviz(), evidence.to_arviz()
    assert first.posterior.equals(second.posterior)
    np.testing.assert_array_equal(evidence.log_weights, before)


def test_a_file_and_back(evidence, tmp_path):
    evidence.to_arviz().to_netcdf(str(tmp_path / "evidence.nc"))
    read = arviz.from_netcdf(str(tmp_path / "evidence.nc"))
    assert read["evidence"]["log_evidence"].values[-1] == evidence.log_evidence


def test_leave_one_out_is_that_of_the_conjugate_posterior(evidence):
    """The density of each row given all others is known, for the model is linear and Gaussian."""
    data = evidence.to_arviz(num_rows=400)
    chosen = np.unique(np.linspace(0, 1499, 400).astype(int))
    design, target = np.column_stack([DATA["x"], np.ones(1500)]), np.asarray(DATA["y"], float)
    precision, pull = design.T @ design + np.eye(3), design.T @ target
    exact = 0.0
    for row in chosen:
        inputs = design[row]
        covariance = np.linalg.inv(precision - np.outer(inputs, inputs))
        mean = inputs @ covariance @ (pull - inputs * target[row])
        variance = 1 + inputs @ covariance @ inputs
        exact += -0.5 * (np.log(2 * np.pi * variance) + (target[row] - mean) ** 2 / variance)
    found = arviz.loo(data)
    assert abs(float(getattr(found, "elpd_loo", getattr(found, "elpd", None))) - exact) < 0.3
    np.testing.assert_array_equal(data["observed_data"]["y"].values, DATA["y"][chosen].astype(np.float32))


@pytest.mark.filterwarnings("ignore:Passing a dict or None as alias_mapping")
def test_arviz_compares_models_and_checks_predictions(evidence):
    comparison = sgais.Comparison({"right": MODEL, "wrong": LinearRegression(dim=2, noise_scale=2.0)}, seed=1)
    comparison.update({name: values[:500] for name, values in DATA.items()})
    kinds = comparison.to_arviz()
    assert next(iter(arviz.compare(kinds).index)) == "right"
    replicates = kinds["right"]["posterior_predictive"]["y"]
    assert replicates.shape == (*kinds["right"].posterior["bias"].shape, 500)
    assert abs(float(replicates.std()) / DATA["y"].std() - 1) < 0.1
    pyplot.switch_backend("agg")
    (arviz.plot_ppc if IS_FIRST_GENERATION else arviz.plot_ppc_dist)(kinds["right"])
    pyplot.close("all")
    assert "log_likelihood" not in evidence.to_arviz(num_rows=0)


def test_paper_mode_is_one_chain():
    evidence = run(sgais.Config.paper(num_particles=40), num_chunks=1)
    data = evidence.to_arviz()
    assert data.posterior["weights"].shape == (1, 40, 2)
    assert np.isnan(data.posterior.attrs["standard_error"])
    assert len(arviz.summary(data, kind="stats")) == 3


def test_before_any_data_the_draws_are_those_of_the_prior():
    data = sgais.OnlineEvidence(MODEL).to_arviz()
    assert abs(data.posterior["bias"].values.std() - 1.0) < 0.1
    assert data["evidence"].sizes["chunk"] == 0
