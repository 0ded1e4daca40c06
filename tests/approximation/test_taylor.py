"""Quadratic surrogates: exact for linear regression, sums over rows for every model."""

from dataclasses import replace

import numpy as np
import pytest

import sgais
from sgais.approximation.taylor import at_anchor, basis_for, shifted, transport, with_rows
from sgais.compute.blocks import slabs

MODEL = sgais.models.LinearRegression(dim=4)
DATA = sgais.simulate.linear_regression(3000, dim=4, seed=1).data
LOGISTIC = sgais.models.LogisticRegression(dim=3, classes=3)
LABELS = sgais.simulate.logistic_regression(700, dim=3, classes=3, seed=1).data


def part(data, start, end):
    return slabs({name: values[start:end] for name, values in data.items()})


def test_the_integral_of_a_quadratic_posterior_is_the_evidence():
    """From any anchor, since the expansion is then exact."""
    anchor = np.random.default_rng(0).normal(size=5)
    surrogate = with_rows(MODEL, at_anchor(MODEL, anchor), slabs(DATA))
    found = surrogate.normalised
    assert found.log_integral == pytest.approx(MODEL.log_evidence(DATA), abs=0.01)


def test_rows_add_up():
    anchor = at_anchor(LOGISTIC, np.full(12, 0.1))
    at_once = with_rows(LOGISTIC, anchor, part(LABELS, 0, 700))
    in_parts = with_rows(LOGISTIC, with_rows(LOGISTIC, anchor, part(LABELS, 0, 300)), part(LABELS, 300, 700))
    assert in_parts.value == pytest.approx(at_once.value, rel=1e-6)
    np.testing.assert_allclose(in_parts.gradient, at_once.gradient, atol=1e-3)
    np.testing.assert_allclose(in_parts.hessian, at_once.hessian, atol=1e-3)


def test_a_surrogate_moves_to_another_anchor_without_all_rows():
    """Exact where the sample is all rows; with a third of them, off by little of what the quadratic leaves out."""
    start = with_rows(LOGISTIC, at_anchor(LOGISTIC, np.full(12, 0.1)), part(LABELS, 0, 700))
    position = np.full(12, 0.1) + 0.1 * np.random.default_rng(0).normal(size=12)
    exact = with_rows(LOGISTIC, at_anchor(LOGISTIC, position), part(LABELS, 0, 700))
    full = shifted(LOGISTIC, start, position, LABELS, 700)
    assert full.value == pytest.approx(exact.value, abs=2e-3)
    np.testing.assert_allclose(full.gradient, exact.gradient, atol=2e-3)
    np.testing.assert_allclose(full.hessian, exact.hessian, atol=2e-3)
    sampled = shifted(LOGISTIC, start, position, {name: values[:233] for name, values in LABELS.items()}, 700)
    beyond = exact.value - start.values_at(exact.anchor[None])[0]
    assert abs(sampled.value - exact.value) < 0.5 * abs(beyond)
    left = np.linalg.norm(sampled.hessian - exact.hessian)
    assert left < 0.5 * np.linalg.norm(start.hessian - exact.hessian)


def test_samples_of_new_sizes_need_no_new_programs(compilations):
    """The sample of a reservoir and a begun chunk has another size each time."""
    model = sgais.models.LinearRegression(dim=4, noise_scale=1.5)  # no other test has compiled it
    start = with_rows(model, at_anchor(model, np.zeros(5)), slabs(DATA))

    def shift(count):
        return shifted(model, start, np.full(5, 0.1), {name: values[:count] for name, values in DATA.items()}, 3000)

    shift(3000)
    first = len(compilations)
    for count in (2100, 2700):
        shift(count)
    assert len(compilations) == first


def test_a_surrogate_without_a_maximum_has_no_integral():
    surrogate = at_anchor(MODEL, np.zeros(5))
    assert surrogate.normalised is not None, "the prior is Gaussian"
    assert replace(surrogate, hessian=-surrogate.hessian).normalised is None


def test_transport_takes_one_gaussian_to_the_other():
    old = with_rows(MODEL, at_anchor(MODEL, np.zeros(5)), part(DATA, 0, 100)).normalised.gaussian
    new = with_rows(MODEL, at_anchor(MODEL, np.zeros(5)), slabs(DATA)).normalised.gaussian
    positions = old.unwhiten(np.random.default_rng(0).normal(size=(1000, 5)))
    np.testing.assert_allclose(new.distances(transport(positions, old, new)), old.distances(positions), rtol=1e-6)


def exact_linear(design, y, anchor):
    """Gradient and Hessian of the log posterior in float64."""
    return design.T @ (y - design @ anchor) - anchor, -design.T @ design - np.eye(design.shape[1])


def design_of(data):
    return np.column_stack([data["x"], np.ones(len(data["y"]))]).astype(float)


def test_a_basis_changes_nothing_where_digits_are_not_at_stake():
    anchor = np.full(5, 0.25)
    turned = np.linalg.qr(np.random.default_rng(0).normal(size=(5, 5)))[0] * [0.1, 0.5, 1.0, 2.0, 10.0]
    plain, in_basis = (
        with_rows(MODEL, at_anchor(MODEL, anchor, basis), slabs(DATA))
        for basis in (None, turned.astype(np.float32).astype(np.float64))
    )
    assert in_basis.value == pytest.approx(plain.value, rel=1e-6)
    np.testing.assert_allclose(in_basis.gradient, plain.gradient, atol=0.02)
    np.testing.assert_allclose(in_basis.hessian, plain.hessian, atol=0.05)
    assert basis_for(-plain.hessian) is None, "it is well-conditioned"


def test_a_basis_keeps_the_digits_of_an_uncentred_column():
    """Intercept and slope are correlated by all but 1e-5: what is left of their precision is a small difference."""
    generator = np.random.default_rng(0)
    x = (2000 + generator.integers(-10, 11, size=20_000)).astype(np.float32)[:, None]
    data = {"x": x, "y": (0.5 * x[:, 0] - 999 + generator.normal(size=20_000)).astype(np.float32)}
    model, design = sgais.models.LinearRegression(dim=1), design_of(data)
    _, hessian = exact_linear(design, data["y"].astype(float), np.zeros(2))
    anchor = np.linalg.solve(-hessian, design.T @ data["y"])
    anchor = anchor.astype(np.float32).astype(float)
    basis = basis_for(-hessian)
    assert basis is not None
    whitening = np.linalg.inv(np.linalg.cholesky(-hessian).T)
    errors = []
    for directions in (None, basis):
        found = with_rows(model, at_anchor(model, anchor, directions), slabs(data))
        errors.append(np.abs(whitening.T @ (found.hessian - hessian) @ whitening).max())
    assert errors[1] < 1e-3
    assert errors[1] < 0.1 * errors[0]


def test_a_basis_is_kept_when_a_surrogate_moves_and_grows():
    basis = np.diag([1.0, 2.0, 3.0, 4.0, 5.0])
    surrogate = with_rows(MODEL, at_anchor(MODEL, np.zeros(5), basis), part(DATA, 0, 1000))
    np.testing.assert_array_equal(surrogate.basis, basis)
    moved = shifted(MODEL, surrogate, np.full(5, 0.1), {name: values[:1000] for name, values in DATA.items()}, 1000)
    np.testing.assert_array_equal(moved.basis, basis)
    exact = with_rows(MODEL, at_anchor(MODEL, np.full(5, 0.1)), part(DATA, 0, 1000))
    np.testing.assert_allclose(moved.gradient, exact.gradient, atol=0.02)
