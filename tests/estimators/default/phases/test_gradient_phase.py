"""The phase for models of many parameters, made to serve few: its sums, its noise, what it costs, its state."""

import re
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import sgais
from sgais import simulate
from sgais.compute import gradients
from sgais.compute.blocks import pack, slabs
from sgais.compute.likelihood import batch_gradient, curvature_in_turn, derivatives, gradient_sum
from sgais.compute.random_keys import KeySequence
from sgais.estimators.default import policy
from sgais.estimators.default.context import UpdateContext
from sgais.estimators.default.diagnostics import UpdateDiagnostics
from sgais.estimators.default.phases.gradient_phase import GradientPhase, Target, _batches, _shifted
from sgais.estimators.default.phases.minibatch_moves import StepSettings
from sgais.history import Memory, Reservoir, RowSpan, RowView
from sgais.kernels import Langevin
from sgais.models import LinearRegression, LogisticRegression

MODEL = LinearRegression(dim=5)
DATA = simulate.linear_regression(20_000, seed=3).data
CONFIG = sgais.Config(num_particles=64, early_factor=2, largest_dimension=4)


def run(rows, chunk_size=500, history=None, model=MODEL, config=CONFIG, data=DATA):
    evidence = sgais.OnlineEvidence(model, config, history=history)
    evidence.run(sgais.stream({name: values[:rows] for name, values in data.items()}, chunk_size))
    return evidence


def exact_gradient(anchor, rows):
    """Of the log-likelihood of linear regression, in float64."""
    design = np.column_stack([DATA["x"][:rows], np.ones(rows)]).astype(np.float64)
    return design.T @ (DATA["y"][:rows] - design @ anchor)


def in_standard_deviations(gradient, rows):
    """A gradient in units of what moves the posterior by one standard deviation."""
    design = np.column_stack([DATA["x"][:rows], np.ones(rows)]).astype(np.float64)
    return np.linalg.solve(np.linalg.cholesky(np.eye(6) + design.T @ design), gradient)


@pytest.mark.parametrize("rows", [8000, 13_000])
def test_the_running_gradient_is_that_of_all_rows(rows):
    phase = run(rows)._state.gradient
    assert phase is not None
    error = phase.gradient - exact_gradient(phase.anchor, rows)
    assert np.abs(in_standard_deviations(error, rows)).max() < 2e-3


def test_the_anchor_follows_the_particles():
    evidence = run(20_000)
    phase = evidence._state.gradient
    assert phase.num_rows_anchored > 8192, "the data have doubled since the hand-over"
    design = np.column_stack([DATA["x"], np.ones(20_000)]).astype(np.float64)
    precision = np.eye(6) + design.T @ design
    mode = np.linalg.solve(precision, design.T @ DATA["y"])
    step = phase.anchor - mode
    assert step @ precision @ step < 25
    whitened = phase.whitening.T @ precision @ phase.whitening * phase.num_rows_anchored / 20_000
    assert np.abs(whitened - np.eye(6)).max() < 0.25


def test_a_sampled_gradient_at_a_new_anchor_is_near_that_of_all_rows():
    """With a reservoir the change of the gradient comes from the rows that are kept."""
    evidence = run(20_000, history=Reservoir(6000))
    phase = evidence._state.gradient
    assert phase is not None
    assert phase.num_rows_anchored > 6000
    error = phase.gradient - exact_gradient(phase.anchor, 20_000)
    assert np.linalg.norm(in_standard_deviations(error, 20_000)) < 0.5
    assert abs(evidence.log_evidence - MODEL.log_evidence(DATA)) < 4 * evidence.standard_error + 0.1
    assert not evidence.warning


def test_too_small_a_reservoir_says_so_and_by_how_many_nats():
    model, rows, dimension = LinearRegression(dim=199), 4001, 200
    data = {name: values.astype(np.float32) for name, values in simulate.linear_regression(rows, 199).data.items()}
    past = Reservoir(500)
    past.append({name: values[:-1] for name, values in data.items()})
    design = np.column_stack([data["x"], np.ones(rows)]).astype(np.float64)
    old, new = np.random.default_rng(0).normal(size=(2, dimension)) / np.sqrt(rows)
    phase = GradientPhase(
        old, np.zeros(dimension), np.eye(dimension) / np.sqrt(rows), np.ones(dimension), rows, 256, 0.5, 1.0
    )
    diagnostics = UpdateDiagnostics()
    last = {name: values[-1:] for name, values in data.items()}
    anchor, gradient = _shifted(
        UpdateContext(model, CONFIG, RowView(past, last), KeySequence(0, 1), diagnostics), phase, new, rows
    )
    exact = -design.T @ design @ (anchor - old)
    lost = 0.5 * np.sum((gradient - exact) ** 2) / rows
    assert lost > 20
    reported = re.search(r"too few for 200 parameters: log Z may be off by (\d+) nats", diagnostics.warnings[0])
    assert float(reported[1]) == pytest.approx(lost, rel=0.3)


LOGISTIC = LogisticRegression(dim=3, classes=3)
LABELS = simulate.logistic_regression(600, dim=3, classes=3, seed=1).data
CONTROL_VARIATE = jax.jit(partial(gradients.control_variate, LOGISTIC))
BATCH_GRADIENT = jax.jit(partial(batch_gradient, LOGISTIC))


def first_order(positions, rows, counts):
    anchor = jnp.full(12, 0.3, jnp.float32)
    gradient = gradient_sum(LOGISTIC, anchor[None], jax.device_put(pack(LABELS)))[0]
    batch = {name: values[rows] for name, values in LABELS.items()}
    return np.asarray(CONTROL_VARIATE(positions, gradients.Anchors(anchor, gradient), batch, counts))


def test_first_order_control_variates_are_unbiased_and_less_noisy_the_nearer_the_anchor():
    """Over a partition of the rows the mean of the batches is exact; noise goes with the distance."""
    parts = np.random.default_rng(1).permutation(600).reshape(12, 50)
    directions = np.random.default_rng(0).normal(size=(5, 12))
    noise = {}
    for distance in (0.02, 0.2):
        positions = jnp.asarray(0.3 + distance * directions, jnp.float32)
        found = np.array([first_order(positions, part, 12.0) for part in parts])
        exact = np.asarray(gradients.full(LOGISTIC, positions, jax.device_put(pack(LABELS)), 1.0))
        np.testing.assert_allclose(found.mean(axis=0), exact, atol=0.02)
        plain = [BATCH_GRADIENT(positions, {n: v[part] for n, v in LABELS.items()}) for part in parts]
        noise[distance] = found.std(axis=0).mean() / (12 * np.std(plain, axis=0).mean())
    assert noise[0.2] < 0.3
    assert noise[0.02] == pytest.approx(0.1 * noise[0.2], rel=0.3)


def test_rows_of_a_batch_may_stand_for_different_numbers():
    positions = jnp.asarray(0.3 + 0.1 * np.random.default_rng(0).normal(size=(5, 12)), jnp.float32)
    twice = first_order(positions, np.arange(30).repeat(2), 1.0)
    np.testing.assert_allclose(first_order(positions, np.arange(30), np.full(30, 2.0)), twice, atol=1e-3)


def test_rows_that_are_annealed_in_stand_for_less():
    past, chunk = Memory(), {"y": np.arange(600, 1000)}
    past.append({"y": np.arange(600)})
    target = Target(RowSpan(600, 900), slabs({"y": np.arange(600, 900)}), 0.25)
    config = sgais.Config(kernel=Langevin(num_steps=3))
    context = UpdateContext(MODEL, config, RowView(past, chunk), KeySequence(0, 1), UpdateDiagnostics())
    rows, counts = _batches(context, StepSettings(100, 0.5), target)
    assert rows["y"].shape == counts.shape == (4, 2, 50)
    assert rows["y"].max() in range(800, 900)
    np.testing.assert_allclose(counts, 900 / 50 * np.where(rows["y"] < 600, 1.0, 0.25))
    rows, _ = _batches(context, StepSettings(100, 0.5), target._replace(inverse_temperature=0.0))
    assert rows["y"].max() < 600, "what counts nothing is not drawn"


def test_curvature_from_different_rows_at_different_positions():
    rows = simulate.logistic_regression(6000, dim=3, classes=3, seed=1).data
    blocks = jax.device_put(pack(rows, 8192, 128))
    positions = jnp.asarray(0.1 * np.random.default_rng(0).normal(size=(4, 12)), jnp.float32)
    exact = -np.asarray(derivatives(LOGISTIC, positions, blocks)[1]).mean(axis=0)
    for most_blocks in (64, 20):
        found = np.asarray(curvature_in_turn(LOGISTIC, positions, blocks, most_blocks))
        assert np.abs(found - exact).max() < 0.1 * np.abs(exact).max()


class Counting(Memory):
    """A history that counts the rows it hands out."""

    def __init__(self):
        super().__init__()
        self.handed_out = 0

    def between(self, start, end):
        self.handed_out += end - start
        return super().between(start, end)

    def take(self, rows, start, end):
        self.handed_out += rows.size
        return super().take(rows, start, end)


def test_a_move_costs_no_more_at_sixty_thousand_rows_than_at_eight_thousand():
    """Rows touched: mini-batches, some to see whether the data have changed, and now and then all to set the anchor."""
    data = simulate.linear_regression(60_000, seed=4).data
    history = Counting()
    evidence = sgais.OnlineEvidence(MODEL, CONFIG, history=history)
    batches, num_moves, passes = 31 * CONFIG.batch_size, 0, 0
    for chunk in sgais.stream(data, 1000):
        before, anchored = history.handed_out, evidence._state and evidence._state.gradient
        record = evidence.update(chunk)
        touched = history.handed_out - before
        if not anchored:
            continue
        if evidence._state.gradient.num_rows_anchored > anchored.num_rows_anchored:
            passes += 1
        else:
            num_moves += record.num_moves
            assert touched <= record.num_moves * batches + 2 * policy.COMPARED_ROWS
    assert num_moves > 3
    assert passes <= 12


def test_a_run_resumed_in_this_phase_repeats_every_bit(tmp_path):
    chunks = list(sgais.stream({name: values[:12_000] for name, values in DATA.items()}, 1000))
    whole, first = (sgais.OnlineEvidence(MODEL, CONFIG, seed=3) for _ in range(2))
    whole.run(chunks)
    for chunk in chunks[:10]:
        first.update(chunk)
    assert first._state.gradient is not None
    first.save(tmp_path / "checkpoint")
    second = sgais.OnlineEvidence.load(tmp_path / "checkpoint", MODEL)
    assert second.log_predictive(chunks[10]) == first.log_predictive(chunks[10])
    for chunk in chunks[10:]:
        second.update(chunk)
    assert second.log_evidence == whole.log_evidence
    for name, values in whole.particles.items():
        np.testing.assert_array_equal(values, second.particles[name])
    assert whole.to_frame().drop(columns="seconds").equals(second.to_frame().drop(columns="seconds"))


def test_what_can_be_asked_in_this_phase():
    evidence = run(12_000)
    new = {name: values[12_000:12_010] for name, values in DATA.items()}
    seen = {name: values[:12_000] for name, values in DATA.items()}
    both = {name: values[:12_010] for name, values in DATA.items()}
    exact = MODEL.log_evidence(both) - MODEL.log_evidence(seen)
    assert evidence.log_predictive(new) == pytest.approx(exact, abs=0.05)
    assert evidence.records[-1].num_modes == 1
    assert evidence.records[-1].step_size == 0.5
    weights = evidence.particles["weights"]
    assert weights.shape == (64, 5)
    design = np.column_stack([seen["x"], np.ones(12_000)]).astype(np.float64)
    mode = np.linalg.solve(np.eye(6) + design.T @ design, design.T @ seen["y"])
    assert np.abs(weights.mean(axis=0) - mode[:5]).max() < 4 / np.sqrt(12_000)
    assert evidence.to_arviz().posterior.sizes["chain"] == 8
