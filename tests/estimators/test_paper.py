"""Algorithm 1, piece by piece; its accuracy is in statistical/."""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

import sgais
from sgais import simulate
from sgais.compute.blocks import slabs
from sgais.estimators import paper as algorithm
from sgais.history import Memory
from sgais.models import LinearRegression
from sgais.smc import annealing
from sgais.smc.resampling import SCHEMES

MODEL = LinearRegression(dim=5)
DATA = simulate.linear_regression(2000, seed=1).data


def first_chunk(config, rows=100, seed=0):
    chunk = {name: values[:rows] for name, values in DATA.items()}
    state = algorithm.init(MODEL, config, seed)
    return state, chunk, algorithm.update(MODEL, config, seed, state, chunk, Memory())


def test_the_papers_settings():
    config = sgais.Config.paper()
    assert (config.num_particles, config.target_ess, config.batch_size, config.chunk_size) == (10, 5, 500, 500)
    assert config.kernel == sgais.SGHMC(learning_rate=0.1, friction=0.2, noise_estimate=0.0, num_steps=20)
    assert config.resampling is None
    assert config.schedule is None


def test_the_state_starts_at_the_prior_with_evidence_one():
    state = algorithm.init(MODEL, sgais.Config.paper(num_particles=4000), seed=0)
    assert state.estimate.log_evidence == 0.0
    assert abs(float(state.positions.mean())) < 4 / np.sqrt(4000 * 6)
    assert float(state.positions.var()) == pytest.approx(1, abs=0.05)


def test_weighing_is_the_sum_of_the_rows():
    positions = jnp.asarray(np.random.default_rng(0).normal(size=(3, 6)), jnp.float32)
    found = algorithm.weigh(MODEL, positions, slabs(DATA))
    rows = jax.vmap(lambda position: MODEL.log_likelihood_at(position, DATA))(positions)
    np.testing.assert_allclose(found, np.asarray(rows, float).sum(axis=1), rtol=1e-6)


def test_a_million_rows_lose_nothing_to_rounding():
    """The same particles, weighed in chunks of 500 as the library does and row by row in float64."""
    data, truth = simulate.linear_regression(1_000_000, seed=2)
    centre = np.append(truth["weights"], truth["bias"])
    positions = (centre + 1e-3 * np.random.default_rng(0).normal(size=(4, 6))).astype(np.float32)
    total = np.zeros(4)
    for chunk in sgais.stream(data, 500):
        total += algorithm.weigh(MODEL, positions, slabs(chunk))
    weights, biases = positions[:, :5].astype(float), positions[:, 5].astype(float)
    residuals = data["y"].astype(float) - weights @ data["x"].astype(float).T - biases[:, None]
    exact = (-0.5 * residuals**2 - 0.5 * np.log(2 * np.pi)).sum(axis=1)
    assert np.abs(total - exact).max() < 0.01


def test_increments_are_weighed_before_the_particles_move():
    """Line 8 before line 9: with one step, log Z is the mean likelihood of the particles as they were."""
    config = sgais.Config.paper(target_ess_fraction=0.1)
    state, chunk, (new_state, info) = first_chunk(config)
    log_likelihoods = algorithm.weigh(MODEL, state.positions, slabs(chunk))
    assert info.annealing_steps == 1
    assert new_state.estimate.log_evidence == pytest.approx(annealing.log_mean_exp(log_likelihoods))
    assert not np.allclose(new_state.positions, state.positions)


def test_a_target_ess_of_one_is_the_predecessors_estimator():
    """No annealing, and (weights being reset by resampling) log Z = sum of log mean p(chunk | particles)."""
    config = sgais.Config.paper(target_ess_fraction=0.1, resampling="systematic")
    evidence = sgais.OnlineEvidence(MODEL, config)
    for chunk in sgais.stream(DATA, 250):
        expected = evidence.log_predictive(chunk)
        record = evidence.update(chunk)
        assert record.annealing_steps == 1
        assert record.increment == pytest.approx(expected, abs=1e-6)


def test_annealing_keeps_every_step_at_the_target():
    _, _, (_, info) = first_chunk(sgais.Config.paper(num_particles=50))
    assert info.annealing_steps > 3
    assert 25 * 0.99 < info.final_ess <= 50


def test_a_fixed_schedule_is_followed():
    config = sgais.Config.paper(schedule=annealing.sigmoidal_schedule(7))
    assert first_chunk(config)[2][1].annealing_steps == 7


def test_without_resampling_weights_are_carried_and_with_it_they_are_reset():
    carried = first_chunk(sgais.Config.paper())[2][0]
    assert len(np.unique(carried.log_weights)) == 10
    for scheme in sorted(SCHEMES):
        reset = first_chunk(sgais.Config.paper(resampling=scheme))[2][0]
        assert len(np.unique(reset.log_weights)) == 1
        assert reset.estimate.log_evidence == pytest.approx(carried.estimate.log_evidence, abs=30)


def test_the_past_enters_by_mini_batches_scaled_to_its_size():
    """The posterior after 2000 rows in four chunks is that of all rows, not of the last chunk."""
    config = sgais.Config.paper(num_particles=200, resampling="systematic", kernel=sgais.SGHMC(num_steps=100))
    evidence = sgais.OnlineEvidence(MODEL, config)
    for chunk in sgais.stream(DATA, 500):
        evidence.update(chunk)
    design = np.column_stack([DATA["x"], np.ones(2000)]).astype(float)
    precision = np.eye(6) + design.T @ design
    mean = np.linalg.solve(precision, design.T @ DATA["y"])
    scale = np.sqrt(np.diag(np.linalg.inv(precision)))
    found = np.column_stack([evidence.particles["weights"], evidence.particles["bias"]])
    # T(2000) = 2: the spread is about sqrt(2) times too large, and the shared mini-batches move the mean along.
    assert (np.abs(found.mean(axis=0) - mean) < 3 * scale).all()
    assert (found.std(axis=0) / scale < 2.0).all()
    assert (found.std(axis=0) / scale > 0.8).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_particles": 0}, "`num_particles` must be a whole number of at least 1, got 0"),
        ({"num_particles": 2.5}, "`num_particles` must be a whole number"),
        ({"batch_size": 0}, "`batch_size`"),
        ({"chunk_size": -1}, "`chunk_size`"),
        ({"target_ess_fraction": 5}, "`target_ess_fraction` must lie between 0 and 1, got 5. Divide a target ESS"),
        ({"target_ess_fraction": 1.0}, "`target_ess_fraction`"),
        ({"resampling": "sistematic"}, r"`resampling` must be None or one of \['multinomial'.*'systematic'\]"),
        ({"schedule": (0.5, 0.9)}, "`schedule` must rise from above 0 to exactly 1"),
        ({"schedule": (0.5, 0.5, 1.0)}, "`schedule`"),
        ({"schedule": ()}, "`schedule`"),
        ({"kernel": "sghmc"}, "`kernel` must be a sgais.SGHMC"),
    ],
)
def test_impossible_settings_are_refused(changes, message):
    with pytest.raises(sgais.ConfigError, match=message):
        sgais.Config.paper(**changes)


def constant_model(value):
    return sgais.Model(
        prior={"mean": dist.Normal(0, 1)},
        log_likelihood=lambda parameters, rows: value(parameters["mean"], rows["y"]) + 0 * rows["y"],
    )


def test_a_constant_likelihood_has_a_known_evidence():
    evidence = sgais.OnlineEvidence(constant_model(lambda mean, y: -0.25), sgais.Config.paper())
    for rows in (1, 7, 100):
        record = evidence.update(np.zeros(rows))
    assert record.log_evidence == pytest.approx(-0.25 * 108, rel=1e-6)
    assert record.annealing_steps == 1


def test_a_likelihood_that_is_not_a_number_at_the_prior_is_refused():
    evidence = sgais.OnlineEvidence(constant_model(lambda mean, y: jnp.log(mean)), sgais.Config.paper())
    with pytest.raises(sgais.ModelError, match=r"`log_likelihood` must be a number.*nan for \d of 10 particles"):
        evidence.update(np.zeros(5))


def test_an_infinite_likelihood_is_refused():
    evidence = sgais.OnlineEvidence(constant_model(lambda mean, y: jnp.inf), sgais.Config.paper())
    with pytest.raises(sgais.ModelError, match="got inf for 10 of 10"):
        evidence.update(np.zeros(5))


def test_half_the_prior_ruled_out():
    """p(y) = 1 for a positive mean and 0 otherwise: log Z is log(1/2), and estimated from what is possible."""
    model = constant_model(lambda mean, y: jnp.where(mean > 0, 0.0, -jnp.inf))
    record = sgais.OnlineEvidence(model, sgais.Config.paper(num_particles=2000)).update(np.zeros(1))
    assert record.log_evidence == pytest.approx(np.log(0.5), abs=4 / np.sqrt(2000))
    assert record.num_non_finite == 0


def test_random_numbers_are_fresh_in_every_chunk_and_every_annealing_step():
    """Without any force the displacements of two moves would be proportional if their random numbers were alike."""
    model = sgais.Model(prior={"mean": dist.Normal(0, 100)}, log_likelihood=lambda p, rows: 0 * rows["y"])

    def positions(schedule, chunks):
        config = sgais.Config.paper(schedule=schedule)
        evidence = sgais.OnlineEvidence(model, config)
        start = evidence.particles["mean"]
        for _ in range(chunks):
            evidence.update(np.zeros(1))
        return evidence.particles["mean"] - start

    first = positions((1.0,), chunks=1)
    for second in (positions((0.5, 1.0), chunks=1) - first, positions((1.0,), chunks=2) - first):
        assert np.abs(second).mean() > 0.01
        assert abs(np.corrcoef(first, second)[0, 1]) < 0.9


def test_batches_come_from_the_past_alone():
    past = Memory()
    past.append({"y": np.zeros(50, np.float32)})
    chunk = {"y": np.ones(5, np.float32)}
    drawn = algorithm._draw_batches(sgais.Config.paper(), np.random.default_rng(0), past, chunk)
    assert drawn["y"].shape == (20, 500)
    assert (drawn["y"] == 0).all()
