"""`Comparison(combine=...)`: weights through time, scores, and resuming."""

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

import sgais
from sgais.models import LinearRegression

# Noise of two scales at once: neither model is true, a mixture of them nearly is.
MODELS = {"quiet": LinearRegression(dim=1, noise_scale=0.3), "loud": LinearRegression(dim=1, noise_scale=2.0)}

COMBINATIONS = ("evidence", "forgetting", "stacking")


def data(num_rows=600, seed=0):
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(num_rows, 1)).astype(np.float32)
    scales = np.where(generator.random(num_rows) < 0.5, 0.3, 2.0)
    return {"x": x, "y": (x[:, 0] + scales * generator.normal(size=num_rows)).astype(np.float32)}


def filled(combine, rows=None, **options):
    comparison = sgais.Comparison(MODELS, combine=combine, **options)
    comparison.run(sgais.stream(data() if rows is None else rows, 50))
    return comparison


def test_stacking_beats_evidence_where_no_model_is_true():
    stacked = filled("stacking")
    assert stacked.weights["quiet"] == pytest.approx(0.5, abs=0.1)
    assert stacked.score > max(stacked.scores.values()) + 30
    assert stacked.records[-1].models["quiet"].weight == stacked.weights["quiet"]
    assert stacked.score == pytest.approx(sum(record.log_predictive for record in stacked.records))
    assert filled("evidence").weights["loud"] > 0.999


def test_rows_are_scored_by_what_was_known_before_their_chunk():
    stacked = filled("stacking")
    chunk = data(40, seed=1)
    densities = [stacked[name].row_log_predictives(chunk) for name in MODELS]
    shares = np.log([stacked.weights[name] for name in MODELS])
    expected = np.logaddexp.reduce(np.array(densities) + shares[:, None], axis=0).sum()
    assert stacked.update(chunk).log_predictive == pytest.approx(expected)


def test_a_row_alone_is_a_chunk_of_one():
    comparison = filled("evidence")
    chunk = data(5, seed=2)
    rows = comparison["loud"].row_log_predictives(chunk)
    alone = [
        comparison["loud"].log_predictive({name: values[[row]] for name, values in chunk.items()}) for row in range(5)
    ]
    assert rows == pytest.approx(alone, abs=1e-4)


@pytest.mark.parametrize("combine", COMBINATIONS)
def test_saved_and_resumed_it_goes_on_to_the_bit(combine, tmp_path):
    straight, half = filled(combine), sgais.Comparison(MODELS, combine=combine)
    half.run(sgais.stream({name: values[:300] for name, values in data().items()}, 50))
    half.save(tmp_path / "half")
    resumed = sgais.Comparison.load(tmp_path / "half", MODELS)
    resumed.run(sgais.stream(data(), 50))
    assert resumed.weights == straight.weights
    assert (resumed.score, resumed.scores) == (straight.score, straight.scores)


def test_models_may_leave_and_join_and_weights_sum_to_one():
    comparison = filled("stacking")
    comparison.add("middle", LinearRegression(dim=1, noise_scale=1.0))
    comparison.update(data(50, seed=3))
    assert set(comparison.weights) == {"quiet", "loud", "middle"}
    comparison.drop("quiet")
    comparison.update(data(50, seed=4))
    assert sum(comparison.weights.values()) == pytest.approx(1.0)
    assert set(comparison.weights) == {"loud", "middle"}


def fragile(parameters, rows):
    """Rows above 3 are impossible."""
    likely = dist.Normal(parameters["mean"], 1.0).log_prob(rows["y"])
    return jnp.where(rows["y"] > 3.0, -jnp.inf, likely)


def sturdy(scale):
    return lambda parameters, rows: dist.Cauchy(parameters["mean"], scale).log_prob(rows["y"])


@pytest.mark.parametrize("options", [{"combine": name} for name in COMBINATIONS] + [{"forgetting": 0.01}])
def test_weights_sum_to_one_after_models_have_failed(options, tmp_path):
    """One fails at its first chunk, one that is the best so far in the middle; whoever is left shares the weights."""
    prior = {"mean": dist.Normal(0.0, 1.0)}
    models = {
        "fragile": sgais.Model(prior, fragile),
        "hopeless": sgais.Model(prior, lambda parameters, rows: jnp.where(rows["y"] == 0.5, -jnp.inf, rows["y"])),
        "narrow": sgais.Model(prior, sturdy(0.3)),
        "wide": sgais.Model(prior, sturdy(3.0)),
    }
    comparison = sgais.Comparison(models, on_outlier="warn", **options)
    generator = np.random.default_rng(5)
    chunks = [np.full(4, 0.5), *generator.normal(size=(4, 20)), np.array([9.0, 8.0]), *generator.normal(size=(3, 20))]
    left = [3, 3, 3, 3, 3, 2, 2, 2, 2]
    for number, (y, count) in enumerate(zip(chunks, left, strict=True)):
        record = comparison.update({"y": y.astype(np.float32)})
        assert sum(comparison.weights[name] for name in record.models) == pytest.approx(1.0)
        assert sum(standing.weight for standing in record.models.values()) == pytest.approx(1.0)
        assert sum(standing.probability for standing in record.models.values()) == pytest.approx(1.0)
        assert len(record.models) == count
        assert np.isfinite(record.log_predictive) or number == 0
        if number == 5:
            comparison.save(tmp_path / "comparison")
            comparison = sgais.Comparison.load(tmp_path / "comparison", models)
    assert set(comparison.failures) == {"fragile", "hopeless"}


def test_wrong_arguments_are_refused():
    with pytest.raises(sgais.ConfigError, match="`combine` must be evidence, forgetting or stacking"):
        sgais.Comparison(MODELS, combine="voting")
    with pytest.raises(sgais.ConfigError, match="`forgetting` must be left out"):
        sgais.Comparison(MODELS, combine="stacking", forgetting=0.1)
