"""The quadratic phase: surrogates carry the past, and particles follow them."""

import numpy as np
import pytest
from streamed import DATA, MODEL, context_of, run

import sgais
from sgais import simulate
from sgais.estimators.default import mode_bank
from sgais.estimators.default.phases import quadratic_phase
from sgais.history import Memory, RowView
from sgais.models import GaussianMixture
from sgais.smc.islands import Islands


def test_surrogates_take_over_when_rows_are_enough():
    assert [record.num_modes for record in run(DATA, 500).records] == [0, 1, 1, 1, 1, 1]


def test_moves_come_when_they_pay():
    """A chunk is only added to the surrogates; on a Gaussian posterior nothing is ever moved again."""
    evidence = run(DATA, 100)
    assert all(record.num_moves == 0 for record in evidence.records[10:])
    assert any(record.annealing_steps == 0 for record in evidence.records[10:])
    exact = MODEL.log_evidence_curve(DATA, range(100, 3001, 100))
    errors = np.array([record.log_evidence for record in evidence.records]) - exact
    assert np.ptp(errors[10:]) < 0.02, "the curve keeps its resolution between weighings"


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
