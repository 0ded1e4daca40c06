"""Weights of models, against weights that are known by other means."""

import numpy as np
import pytest
from scipy.special import logsumexp

from sgais.comparison.combination import ChunkScores, combination_of
from sgais.comparison.combination.discounting import HALF_LIVES

ODDS = {"a": 0.0, "b": 0.0}


def followed(combination, increments, rows_of_chunk=1, odds=None):
    """The weights before each chunk, and the score of their mixture; increments are lists by name."""
    odds = dict.fromkeys(increments, 0.0) if odds is None else odds
    weights, score, all_weights = dict.fromkeys(increments, 1 / len(increments)), 0.0, []
    totals = dict.fromkeys(increments, 0.0)
    for number in range(len(next(iter(increments.values())))):
        chunk = {name: values[number] for name, values in increments.items()}
        totals = {name: totals[name] + value for name, value in chunk.items()}
        logs = np.array([totals[name] + odds[name] for name in totals])
        probabilities = dict(zip(totals, np.exp(logs - logsumexp(logs)), strict=True))
        rows = {name: np.array([value]) for name, value in chunk.items()} if combination.wants_rows else None
        scores = ChunkScores(rows_of_chunk, chunk, rows, odds, probabilities)
        score += scores.of_mixture(weights)
        all_weights.append(weights)
        weights = combination.updated(weights, scores)
        assert sum(weights.values()) == pytest.approx(1.0)
    return weights, score, all_weights


def two_truths(num_rows=600, seed=0):
    """Log densities of two models of which neither is true: a row is drawn from one or the other."""
    generator = np.random.default_rng(seed)
    y = np.where(generator.random(num_rows) < 0.3, 2.0, -2.0) + generator.normal(size=num_rows)
    return {"a": -0.5 * (y - 2.0) ** 2, "b": -0.5 * (y + 2.0) ** 2}


def universal(increments):
    """Cover's portfolio of two models by quadrature: the weight of the first after all rows, and the score."""
    grid = (np.arange(20_000) + 0.5) / 20_000
    with np.errstate(divide="ignore"):
        wealth = np.logaddexp(np.log(grid)[:, None] + increments["a"], np.log1p(-grid)[:, None] + increments["b"]).sum(
            axis=1
        )
    shares = np.exp(wealth - logsumexp(wealth))
    return float(shares @ grid), logsumexp(wealth) - np.log(len(grid)), wealth.max()


def test_stacking_is_the_universal_portfolio():
    increments = two_truths()
    weights, score, _ = followed(combination_of("stacking", 0.0, 0), increments)
    exact_weight, exact_score, best = universal(increments)
    assert weights["a"] == pytest.approx(exact_weight, abs=0.01)
    assert score == pytest.approx(exact_score, abs=0.5)
    assert score >= best - np.log(len(increments["a"]) + 1) - 0.5
    evidence, evidence_score, _ = followed(combination_of("evidence", 0.0, 0), increments)
    assert score > evidence_score + 50
    assert evidence["b"] > 0.999


def test_stacking_loses_little_where_a_model_is_true():
    generator = np.random.default_rng(1)
    y = generator.normal(size=1000)
    models = {name: -0.5 * (y - mean) ** 2 for name, mean in (("true", 0.0), ("near", 0.4), ("far", 2.0))}
    weights, score, _ = followed(combination_of("stacking", 0.0, 0), models)
    assert weights["true"] > 0.8
    assert score >= models["true"].sum() - 2 * np.log(1001)


def test_forgetting_finds_its_rate():
    generator = np.random.default_rng(2)
    regime = np.repeat([0, 1] * 5, 200)
    y = np.where(regime == 0, 1.0, -1.0) + generator.normal(size=2000)
    increments = {"a": -0.5 * (y - 1.0) ** 2, "b": -0.5 * (y + 1.0) ** 2}
    weights, score, _ = followed(combination_of("forgetting", 0.0, 0), increments)
    _, loyal_score, _ = followed(combination_of("evidence", 0.0, 0), increments)
    best = np.where(regime == 0, increments["a"], increments["b"]).sum()
    assert score > loyal_score + 100
    assert score > best - 150
    assert weights["b"] > 0.95


def test_forgetting_loses_hardly_more_than_two_nats_to_evidence():
    generator = np.random.default_rng(3)
    y = generator.normal(size=500)
    increments = {"a": -0.5 * (y - 0.0) ** 2, "b": -0.5 * (y - 0.15) ** 2}
    _, score, _ = followed(combination_of("forgetting", 0.0, 0), increments)
    _, loyal_score, _ = followed(combination_of("evidence", 0.0, 0), increments)
    assert score >= loyal_score - np.log(len(HALF_LIVES)) - 1e-9


@pytest.mark.parametrize("combine", ["evidence", "forgetting", "stacking"])
def test_a_model_that_fails_leaves_weights_that_sum_to_one(combine):
    increments = two_truths(50) | {"c": np.full(50, -3.0)}
    combination = combination_of(combine, 0.0, 0)
    weights, _, _ = followed(combination, increments)
    left = {name: values[:20] for name, values in increments.items() if name != "b"}
    after, _, _ = followed(combination, left)
    assert set(weights) == {"a", "b", "c"}
    assert set(after) == {"a", "c"}


@pytest.mark.parametrize("combine", ["forgetting", "stacking"])
def test_restored_it_goes_on_to_the_bit(combine):
    increments = two_truths(200)
    straight = followed(combination_of(combine, 0.0, 4), increments)[0]
    half = combination_of(combine, 0.0, 4)
    followed(half, {name: values[:100] for name, values in increments.items()})
    resumed = combination_of(combine, 0.0, 4)
    resumed.restore(half.state())
    assert followed(resumed, {name: values[100:] for name, values in increments.items()})[0] == straight
