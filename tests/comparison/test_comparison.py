"""Several models on one stream, against exact probabilities."""

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest
from scipy.special import logsumexp

import sgais
from sgais import simulate
from sgais.history import Reservoir
from sgais.models import LinearRegression

DATA = simulate.linear_regression(2000, dim=3, seed=2).data
MODELS = {"one": LinearRegression(dim=3, features=(0,)), "all": LinearRegression(dim=3)}
CHUNKS = list(sgais.stream(DATA, 500))


def filled(models=MODELS, chunks=CHUNKS, **options):
    comparison = sgais.Comparison(models, **options)
    for chunk in chunks:
        comparison.update(chunk)
    return comparison


@pytest.fixture(scope="module")
def comparison():
    return filled()


def nested_features(seed):
    """A weak third feature, so that the models are close at first."""
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(20_000, 3)).astype(np.float32)
    y = (x @ [1.0, -0.5, 0.02] + generator.normal(size=20_000)).astype(np.float32)
    return {"x": x, "y": y}


def test_probabilities_are_exact_within_their_band():
    check_bands(nested_features(0), 0, counts=(2, 3))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_probabilities_are_exact_within_their_band_at_every_record(seed):
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(100_000, 3)).astype(np.float32)
    y = (x @ [1.0, -0.5, 0.01] + generator.normal(size=100_000)).astype(np.float32)
    check_bands({"x": x, "y": y}, seed)


def check_bands(data, seed, counts=(1, 2, 3)):
    models = {str(count): LinearRegression(dim=3, features=range(count)) for count in counts}
    comparison = filled(models, sgais.stream(data, 500), seed=seed)
    ends = [record.num_rows for record in comparison.records]
    exact = np.array([model.log_evidence_curve(data, ends) for model in models.values()])
    exact = np.exp(exact - logsumexp(exact, axis=0))
    for number, name in enumerate(models):
        low, high = (
            np.array([getattr(record.models[name], end) for record in comparison.records]) for end in ("low", "high")
        )
        assert (exact[number] >= low - 1e-12).all()
        assert (exact[number] <= high + 1e-12).all()
    uncertain = np.ptp(exact[-2:], axis=1)
    assert uncertain.max() > 0.01, "the models are not told apart at once"


def test_a_model_does_as_it_does_alone(comparison):
    alone = sgais.OnlineEvidence(MODELS["all"], seed=comparison["all"].seed)
    alone.run(CHUNKS)
    assert alone.log_evidence == comparison["all"].log_evidence
    without = filled({"all": MODELS["all"]})
    assert without["all"].log_evidence == comparison["all"].log_evidence


def test_prior_odds_count():
    even, odd = filled(chunks=CHUNKS[:1]), filled(chunks=CHUNKS[:1], prior_odds={"one": 3.0, "all": 1.0})
    log_odds = [np.log(found.probabilities["one"] / found.probabilities["all"]) for found in (even, odd)]
    assert log_odds[1] - log_odds[0] == pytest.approx(np.log(3.0))


def test_the_mixture_predicts_what_its_parts_do(comparison):
    chunk = {name: values[:50] for name, values in DATA.items()}
    each = comparison.log_predictives(chunk)
    logs = [np.log(comparison.probabilities[name]) + value for name, value in each.items()]
    assert comparison.log_predictive(chunk) == pytest.approx(logsumexp(logs), abs=1e-9)
    assert each["all"] == comparison["all"].log_predictive(chunk)


def test_scores_add_up_to_the_evidence_of_the_mixture(comparison):
    total = sum(record.log_predictive for record in comparison.records)
    evidences = [comparison[name].log_evidence for name in MODELS]
    assert total == pytest.approx(logsumexp(evidences) - np.log(2), abs=1e-6)


@pytest.mark.slow
def test_forgetting_follows_a_world_that_changes():
    """First one feature counts, then the other; a loyal mixture waits until the second has made up for all the past."""
    generator = np.random.default_rng(0)
    x = generator.normal(size=(3500, 2)).astype(np.float32)
    y = (x[np.arange(3500), (np.arange(3500) >= 3000).astype(int)] + generator.normal(size=3500)).astype(np.float32)
    models = {name: LinearRegression(dim=2, features=(number,)) for number, name in enumerate(("first", "second"))}
    loyal, forgetful = (filled(models, sgais.stream({"x": x, "y": y}, 500), forgetting=share) for share in (0.0, 1e-5))
    assert forgetful.records[5].models["first"].weight > 0.99
    assert loyal.records[6].models["first"].weight > 0.99
    assert forgetful.records[6].models["second"].weight > 0.99
    assert forgetful.probabilities == loyal.probabilities, "evidence does not forget"


def test_a_model_that_joins_has_seen_everything(comparison):
    joined = filled({"one": MODELS["one"]})
    joined.add("all", MODELS["all"])
    assert joined["all"].log_evidence == comparison["all"].log_evidence
    assert joined.probabilities == comparison.probabilities
    both = (joined.update(CHUNKS[0]), filled(chunks=[*CHUNKS, CHUNKS[0]]).records[-1])
    assert both[0].models["all"].log_evidence == both[1].models["all"].log_evidence


def test_a_model_that_joins_late_counts_from_there_on(tmp_path):
    """Of 1,000 rows the latest 600 are kept: it learns from those, and begins with the mixture's log Z."""
    late = filled({"one": MODELS["one"]}, CHUNKS[:2], history=Reservoir(600))
    late.add("all", MODELS["all"], prior_odds=3.0)
    before = late["one"].log_evidence
    assert late["all"].log_evidence == pytest.approx(before, abs=1e-9)
    assert late.probabilities["all"] == pytest.approx(0.75, abs=1e-9)
    assert "joined at row 1,000, having learnt from the 600 rows before it" in late["all"].warning
    assert "not yet separated" in str(late)
    late.save(tmp_path / "checkpoint")
    loaded = sgais.Comparison.load(tmp_path / "checkpoint", MODELS)
    for chunk in CHUNKS[2:]:
        late.update(chunk)
        loaded.update(chunk)
    learnt = {name: values[400:1000] for name, values in DATA.items()}
    known = {name: values[400:] for name, values in DATA.items()}
    exact = MODELS["all"].log_evidence(known) - MODELS["all"].log_evidence(learnt)
    assert late["all"].log_evidence - before == pytest.approx(exact, abs=4 * late["all"].standard_error)
    assert late.last_record == loaded.last_record
    assert [record.num_rows for record in late.curves["all"]] == [1000, 1500, 2000]
    assert "joined at row 1,000" in late.last_record.models["all"].warning
    assert not late["one"].warning


def test_a_model_that_leaves_leaves_the_others_alone():
    found = filled(chunks=CHUNKS[:2])
    before = found["one"].log_evidence
    found.drop("all")
    assert found.probabilities == {"one": 1.0}
    assert found["one"].log_evidence == before
    assert found.update(CHUNKS[2]).models.keys() == {"one"}
    with pytest.raises(sgais.ConfigError, match="leave at least one model"):
        found.drop("one")


def test_a_resumed_comparison_repeats_every_bit(tmp_path, comparison):
    first = sgais.Comparison(MODELS)
    first.run(CHUNKS[:2], save_to=tmp_path / "checkpoint")
    second = sgais.Comparison.load(tmp_path / "checkpoint", MODELS)
    second.run(sgais.stream(DATA, 500))
    assert second.records == comparison.records
    with pytest.raises(sgais.ConfigError, match="have the names that were saved"):
        sgais.Comparison.load(tmp_path / "checkpoint", {"one": MODELS["one"]})


def test_one_model_and_several_do_not_load_each_other(tmp_path, comparison):
    comparison.save(tmp_path / "several")
    with pytest.raises(sgais.CheckpointError, match="`path` must be a checkpoint of OnlineEvidence, got .*several"):
        sgais.OnlineEvidence.load(tmp_path / "several", MODELS["all"])
    comparison["all"].save(tmp_path / "one")
    with pytest.raises(sgais.CheckpointError, match="`path` must be a checkpoint of Comparison, got .*one, which"):
        sgais.Comparison.load(tmp_path / "one", MODELS)


def test_one_that_fails_does_not_stop_the_others():
    """Its likelihood is zero everywhere as soon as a row is above 100."""

    def log_likelihood(parameters, rows):
        normal = dist.Normal(parameters["mean"], 1.0).log_prob(rows["y"])
        return jnp.where(rows["y"] > 100, -jnp.inf, normal)

    fragile = sgais.Model({"mean": dist.Normal(0.0, 1.0)}, log_likelihood)
    sturdy = sgais.Model(
        {"mean": dist.Normal(0.0, 1.0)}, lambda parameters, rows: dist.Cauchy(parameters["mean"]).log_prob(rows["y"])
    )
    found = sgais.Comparison({"fragile": fragile, "sturdy": sturdy})
    found.update(np.zeros(20))
    record = found.update(np.array([200.0, 200.0]))  # a single one would be left out as an outlier
    assert set(record.models) == {"sturdy"}
    assert "fragile" in found.failures
    assert found.probabilities == {"sturdy": 1.0}
    assert "failed" in found.table().loc["fragile", "note"]
    assert found.update(np.zeros(5)).num_rows == 27
    alone = sgais.Comparison({"fragile": fragile})
    alone.update(np.zeros(20))
    with pytest.raises(sgais.EstimationError, match="no model can continue"):
        alone.update(np.array([200.0]))
    assert alone.num_rows == 20


def test_a_chunk_that_is_refused_changes_nothing(comparison):
    before = (comparison.num_rows, comparison.probabilities, len(comparison.records))
    bad = {"x": np.zeros((3, 3)), "y": np.array([0.0, np.nan, 0.0])}
    with pytest.raises(sgais.DataError, match="model 'one' refuses the chunk: column 'y' must be finite.*row 1"):
        comparison.update(bad)
    assert before == (comparison.num_rows, comparison.probabilities, len(comparison.records))


def test_a_chunk_that_only_one_model_refuses_is_taken_by_none():
    """The first has weighed it by the time that the second looks for its column."""
    own = sgais.Model(
        {"mean": dist.Normal()}, lambda parameters, rows: dist.Normal(parameters["mean"]).log_prob(rows["z"])
    )
    found = sgais.Comparison({"linear": MODELS["all"], "own": own})
    with pytest.raises(sgais.ModelError, match="model 'own' refuses the chunk.*'z'"):
        found.update(CHUNKS[0])
    assert (found.num_rows, found.records, found.place.position, found.failures) == (0, (), 0, {})
    assert (found["linear"].num_rows, found["own"].num_rows) == (0, 0)


def test_the_table_says_who_leads(comparison):
    table = comparison.table()
    assert table.index.tolist() == ["all", "one"]
    assert table.loc["all", "log_bayes_factor"] == 0
    expected = comparison["one"].log_evidence - comparison["all"].log_evidence
    assert table.loc["one", "log_bayes_factor"] == pytest.approx(expected)
    assert f"all leads one by {-expected:.1f}" in str(comparison)
    same = filled({"a": MODELS["all"], "b": MODELS["all"]}, CHUNKS[:1])
    assert "not yet separated" in str(same)
    assert not same.records[-1].is_separated


@pytest.mark.parametrize(
    ("models", "options", "message"),
    [
        ({}, {}, "`models` must hold at least one model"),
        ([("a", MODELS["all"])], {}, "`models` must be a dictionary of models by name"),
        ({"a": MODELS["all"], "b": LinearRegression(dim=2)}, {}, "`models` must want the same columns"),
        ({"a": MODELS["all"]}, {"prior_odds": {"b": 1.0}}, "`prior_odds` must name the models"),
        ({1: MODELS["all"], "1": MODELS["one"]}, {}, "`models` must have different names"),
        ({"a": 3}, {}, "`model` must be a sgais.Model"),
        ({"a": MODELS["all"]}, {"prior_odds": 3.0}, "`prior_odds` must be a dictionary of numbers by name"),
        *(
            ({"a": MODELS["all"]}, {"prior_odds": {"a": value}}, "`prior_odds` must be positive numbers")
            for value in (0.0, -1.0, np.inf, np.nan, "3")
        ),
        ({"a": MODELS["all"]}, {"forgetting": 1.0}, "`forgetting` must be at least 0 and below 1"),
        ({"a": MODELS["all"]}, {"forgetting": "a little"}, "`forgetting` must be at least 0 and below 1"),
    ],
)
def test_impossible_comparisons_are_refused(models, options, message):
    with pytest.raises(sgais.ConfigError, match=message):
        sgais.Comparison(models, **options)


def test_joining_needs_a_name_and_the_same_columns(comparison):
    with pytest.raises(sgais.ConfigError, match="`name` must differ from"):
        comparison.add("all", MODELS["all"])
    for odds in (0.0, "even"):
        with pytest.raises(sgais.ConfigError, match="`prior_odds` must be positive"):
            comparison.add("third", MODELS["all"], prior_odds=odds)
    with pytest.raises(sgais.ConfigError, match="`models` must want the same columns"):
        comparison.add("third", LinearRegression(dim=2))
    assert comparison.names == ("one", "all")


def test_frames(comparison):
    frame = comparison.to_frame()
    assert len(frame) == 8
    assert set(frame["model"]) == {"one", "all"}
    assert comparison.curves["all"][-1].log_evidence == frame.iloc[-1]["log_evidence"]


def test_records_can_be_forgotten(tmp_path):
    forgetful, whole = filled(chunks=CHUNKS[:3]), filled()
    forgetful.keep_records(1)
    assert [record.num_rows for record in forgetful.records] == [1500]
    forgetful.update(CHUNKS[3])
    forgetful.save(tmp_path / "checkpoint")
    loaded = sgais.Comparison.load(tmp_path / "checkpoint", MODELS)
    for comparison in (forgetful, loaded):
        assert comparison.last_record == whole.last_record
        comparison.add("again", MODELS["all"])  # how the first rows were cut is forgotten: as the others
        exact = MODELS["all"].log_evidence(DATA)
        assert comparison["again"].log_evidence == pytest.approx(exact, abs=4 * comparison["again"].standard_error)


def test_a_frozen_copy_predicts_as_before():
    comparison = filled(chunks=CHUNKS[:2])
    inputs = {"x": DATA["x"][:4]}
    frozen, before = comparison.frozen(), comparison.predict(inputs)
    comparison.update(CHUNKS[2])
    np.testing.assert_array_equal(frozen.predict(inputs).mean, before.mean)
    assert not np.array_equal(comparison.predict(inputs).mean, before.mean)


def test_what_is_printed_says_what_to_beware_of(monkeypatch):
    comparison = filled(config=sgais.Config.paper(), chunks=CHUNKS[:1])
    assert "BEWARE" not in str(comparison)
    monkeypatch.setattr(sgais.OnlineEvidence, "warning", property(lambda _: "gone astray"))
    for name in MODELS:
        assert f"\nBEWARE of {name}: gone astray." in str(comparison)
    assert "warning='gone astray'" in repr(comparison["one"])
