import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pandas as pd
import pytest

import sgais
from sgais import simulate
from sgais.models import LinearRegression, LogisticRegression

MODEL = LinearRegression(dim=5)
DATA = simulate.linear_regression(3000, seed=1).data


def chunk(start, end):
    return {name: values[start:end] for name, values in DATA.items()}


def assert_same_run(one, other):
    assert one.log_evidence == other.log_evidence
    for name, values in one.particles.items():
        np.testing.assert_array_equal(values, other.particles[name])


def test_chunks_of_any_size_in_any_order_of_sizes():
    evidence = sgais.OnlineEvidence(MODEL)
    sizes = [1, 2, 700, 31, 1, 1500, 33]
    start = 0
    for size in sizes:
        record = evidence.update(chunk(start, start + size))
        start += size
        assert record.num_rows == start == evidence.num_rows
    exact = MODEL.log_evidence(chunk(0, start))
    assert evidence.log_evidence == pytest.approx(exact, rel=0.03)
    assert sum(record.increment for record in evidence.records) == pytest.approx(evidence.log_evidence)


def test_a_first_chunk_of_a_hundred_thousand_rows():
    data = simulate.linear_regression(100_000, seed=3).data
    record = sgais.OnlineEvidence(MODEL).update(data)
    assert record.annealing_steps > 10
    assert record.log_evidence == pytest.approx(MODEL.log_evidence(data), rel=0.01)


def test_records_hold_the_curve():
    evidence = sgais.OnlineEvidence(MODEL, seed=4)
    records = [evidence.update(part) for part in sgais.stream(DATA, 500)]
    assert repr(evidence.records) == repr(tuple(records))  # NaN is not equal to itself
    frame = evidence.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.num_rows) == [500, 1000, 1500, 2000, 2500, 3000]
    assert frame.log_evidence.iloc[-1] == evidence.log_evidence
    assert (frame.seconds > 0).all()
    assert ((frame.standard_error > 0) & (frame.standard_error < 1)).all()
    assert frame.standard_error.iloc[-1] == evidence.standard_error == evidence.error_budget["Monte Carlo"]
    assert (frame.warning == "").all()
    assert (frame.weight_ess >= 1 - 1e-9).all()


def test_the_papers_algorithm_gives_no_error_bar_so_none_is_invented():
    evidence = sgais.OnlineEvidence(MODEL, sgais.Config.paper())
    evidence.update(chunk(0, 100))
    assert np.isnan(evidence.standard_error)
    assert "± ? Monte Carlo" in str(evidence)


def test_it_prints_its_error_budget():
    evidence = sgais.OnlineEvidence(MODEL)
    evidence.update(chunk(0, 100))
    expected = (
        f"log Z = {evidence.log_evidence:.2f} ± {evidence.standard_error:.2f} Monte Carlo ± 0.00 kernel, 100 rows."
    )
    assert str(evidence) == expected


def test_before_any_data():
    evidence = sgais.OnlineEvidence(MODEL)
    assert evidence.log_evidence == 0.0
    assert evidence.records == ()
    assert len(evidence.to_frame()) == 0
    assert evidence.particles["weights"].shape == (1024, 5)
    assert "LinearRegression(dim=5, noise_scale=1.0), num_rows=0" in repr(evidence)


def test_particles_are_constrained_and_weighted():
    model = sgais.models.GaussianMixture(components=2, dim=1)
    evidence = sgais.OnlineEvidence(model)
    evidence.update(np.random.default_rng(0).normal(size=50))
    particles = evidence.particles
    count = len(evidence.log_weights)
    assert {name: values.shape for name, values in particles.items()} == {
        "weights": (count, 2),
        "variances": (count, 2, 1),
        "means": (count, 2, 1),
    }
    assert (particles["variances"] > 0).all()
    np.testing.assert_allclose(particles["weights"].sum(axis=1), 1, rtol=1e-5)
    assert np.exp(evidence.log_weights).sum() == pytest.approx(1)


def test_log_predictive_changes_nothing():
    evidence, undisturbed = sgais.OnlineEvidence(MODEL), sgais.OnlineEvidence(MODEL)
    for part in sgais.stream(DATA, 1000):
        evidence.log_predictive(part)
        evidence.update(part)
        undisturbed.update(part)
    assert_same_run(evidence, undisturbed)


def test_log_predictive_is_the_weighted_mean_likelihood():
    evidence = sgais.OnlineEvidence(MODEL)
    evidence.update(chunk(0, 500))
    rows = chunk(500, 520)
    particles, weights = evidence.particles, np.exp(evidence.log_weights)
    residuals = rows["y"] - particles["weights"] @ rows["x"].T - particles["bias"][:, None]
    likelihoods = np.exp((-0.5 * residuals**2 - 0.5 * np.log(2 * np.pi)).sum(axis=1).astype(float))
    assert evidence.log_predictive(rows) == pytest.approx(np.log(weights @ likelihoods), abs=1e-4)


def test_same_seed_same_bits():
    runs = [sgais.OnlineEvidence(MODEL, seed=seed) for seed in (5, 5, 6)]
    for run in runs:
        for part in sgais.stream(DATA, 700):
            run.update(part)
    assert_same_run(runs[0], runs[1])
    assert runs[0].log_evidence != runs[2].log_evidence


BAD_CHUNKS = {
    "nan": ({"x": np.full((3, 5), np.nan), "y": np.zeros(3)}, "'x' must be finite.*row 0"),
    "infinite": ({"x": np.zeros((3, 5)), "y": np.array([0, np.inf, 0])}, "'y' must be finite.*row 1"),
    "names": ({"features": np.zeros((3, 5)), "y": np.zeros(3)}, "'x' is missing"),
    "dimension": ({"x": np.zeros((3, 4)), "y": np.zeros(3)}, r"rows of shape \(5,\), got \(4,\)"),
    "lengths": ({"x": np.zeros((3, 5)), "y": np.zeros(4)}, "equal length"),
    "empty": ({"x": np.zeros((0, 5)), "y": np.zeros(0)}, "at least one row"),
    "objects": ({"x": np.zeros((1, 5)), "y": np.array([None])}, "dtype object"),
    "text": ("rows.csv", "must hold numbers"),
}


@pytest.mark.parametrize("kind", sorted(BAD_CHUNKS))
@pytest.mark.parametrize("after", [0, 500])
def test_a_refused_chunk_leaves_everything_as_it_was(kind, after):
    bad, message = BAD_CHUNKS[kind]
    evidence, undisturbed = sgais.OnlineEvidence(MODEL), sgais.OnlineEvidence(MODEL)
    for run in (evidence, undisturbed):
        if after:
            run.update(chunk(0, after))
    with pytest.raises(sgais.DataError, match=message):
        evidence.update(bad)
    with pytest.raises(sgais.DataError, match=message):
        evidence.log_predictive(bad)
    for run in (evidence, undisturbed):
        run.update(chunk(after, after + 500))
    assert_same_run(evidence, undisturbed)


def test_labels_out_of_range_are_refused():
    evidence = sgais.OnlineEvidence(LogisticRegression(dim=2, classes=3))
    with pytest.raises(sgais.DataError, match="whole numbers from 0 to 2, got 3 in row 1.*subtract 1"):
        evidence.update({"x": np.zeros((2, 2)), "y": np.array([1, 3])})


def test_an_impossible_chunk_is_refused_and_the_stream_goes_on():
    """Rows above the support have probability zero for every particle."""
    model = sgais.Model(
        prior={"width": dist.Uniform(1.0, 2.0)},
        log_likelihood=lambda p, rows: jnp.where(rows["y"] < p["width"], -jnp.log(p["width"]), -jnp.inf),
    )
    evidence = sgais.OnlineEvidence(model)
    evidence.update(np.full(5, 0.5))
    before = evidence.log_evidence
    with pytest.raises(sgais.EstimationError, match="every particle gives these rows probability zero"):
        evidence.update(np.full(5, 3.0))
    assert evidence.num_rows == 5
    assert evidence.log_evidence == before
    assert evidence.log_predictive(np.full(5, 3.0)) == -np.inf
    assert evidence.update(np.full(5, 0.6)).num_rows == 10


def test_a_model_of_the_wrong_shape_is_refused_at_the_first_chunk():
    model = sgais.Model(prior={"mean": dist.Normal(0, 1)}, log_likelihood=lambda p, rows: jnp.sum(rows["y"]))
    with pytest.raises(sgais.ModelError, match="one number per row"):
        sgais.OnlineEvidence(model).update(np.zeros(3))


def test_the_first_chunk_defines_the_fields_of_a_model_without_any():
    model = sgais.Model(
        prior={"rate": dist.Gamma(2.0, 1.0)},
        log_likelihood=lambda p, rows: dist.Poisson(p["rate"]).log_prob(rows["count"]),
    )
    evidence = sgais.OnlineEvidence(model)
    with pytest.raises(sgais.DataError):
        evidence.update({"count": np.array([np.nan])})
    evidence.update({"count": np.array([1, 2, 3])})
    with pytest.raises(sgais.DataError, match="'count' is missing"):
        evidence.update(np.array([1, 2]))
    with pytest.raises(sgais.DataError, match="whole numbers"):
        evidence.update({"count": np.array([1.5])})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"model": "linear"}, "`model` must be a sgais.Model"),
        ({"model": MODEL, "config": {"num_particles": 3}}, "`config` must be a sgais.Config"),
        ({"model": MODEL, "seed": -1}, "`seed` must be a whole number"),
        ({"model": MODEL, "seed": 0.5}, "`seed` must be a whole number"),
    ],
)
def test_impossible_arguments_are_refused(arguments, message):
    with pytest.raises(sgais.ConfigError, match=message):
        sgais.OnlineEvidence(**arguments)


def test_one_compilation_for_a_model_a_configuration_and_a_capacity(compilations):
    config = sgais.Config.paper(num_particles=7)  # used by no other test, so nothing is compiled yet
    evidence = sgais.OnlineEvidence(MODEL, config)
    evidence.update(chunk(0, 400))
    first = len(compilations)
    assert 0 < first <= 5  # prior draws, weighing, moving, and at most two conversions

    for start, end in [(400, 900), (900, 1029), (1029, 1400)]:  # other sizes, the same capacity
        evidence.update(chunk(start, end))
    assert len(compilations) == first

    equal_model = sgais.OnlineEvidence(LinearRegression(dim=5), sgais.Config.paper(num_particles=7), seed=9)
    equal_model.update(chunk(0, 300))
    assert len(compilations) == first

    evidence.update(chunk(1400, 1420))  # a new capacity: weighing and moving once more
    assert len(compilations) == first + 2
    evidence.update(chunk(1420, 1452))
    assert len(compilations) == first + 2
