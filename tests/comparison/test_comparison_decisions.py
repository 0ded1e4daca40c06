"""`Comparison.decide`: the same e-process as alone, and what may be asked of it."""

import numpy as np
import numpyro.distributions as dist
import pytest
from scipy.special import logsumexp

import sgais
from sgais.decisions.e_values import lower_bound_of
from sgais.history import Reservoir
from sgais.models import LinearRegression

MODELS = {
    "none": LinearRegression(dim=3, features=(0,)),
    "second": LinearRegression(dim=3, features=(0, 1)),
    "third": LinearRegression(dim=3, features=(0, 2)),
}


def data(effect=0.3, num_rows=1000, seed=0):
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(num_rows, 3)).astype(np.float32)
    return {"x": x, "y": (x @ [1.0, effect, 0.0] + generator.normal(size=num_rows)).astype(np.float32)}


def test_all_others_together_are_the_alternative():
    comparison = sgais.Comparison(MODELS, prior_odds={"none": 5.0, "second": 1.0, "third": 3.0})
    comparison.run(sgais.stream(data(), 100))
    decision = comparison.decide()
    assert (decision.null, decision.verdict) == ("none", "reject")
    process = sgais.decisions.EProcess(MODELS["second"], MODELS["none"])
    process.run(sgais.stream(data(), 100))
    largest = process.records[-1].largest_log_likelihood
    lowers = [lower_bound_of(comparison[name].last_record) for name in ("second", "third")]
    assert decision.log_e == pytest.approx(logsumexp(lowers, b=[0.25, 0.75]) - largest, abs=0.1)
    assert comparison.decide(null="second").verdict == "not yet"


def test_asked_late_or_after_every_chunk_it_says_the_same(tmp_path):
    late, often = sgais.Comparison(MODELS), sgais.Comparison(MODELS)
    late.run(sgais.stream(data(), 100))
    often.run(sgais.stream(data(), 100), after_chunk=lambda record: often.decide())
    assert late.decide() == often.decide()
    often.save(tmp_path / "often")
    assert sgais.Comparison.load(tmp_path / "often", MODELS).decide() == often.decide()


def test_a_model_that_joins_later_is_no_alternative():
    comparison = sgais.Comparison({name: MODELS[name] for name in ("none", "third")})
    comparison.run(sgais.stream(data(), 250))
    comparison.add("second", MODELS["second"])
    assert comparison.probabilities["second"] > 0.99
    assert comparison.decide().verdict == "not yet"


def test_what_cannot_be_decided_is_refused():
    comparison = sgais.Comparison(MODELS)
    with pytest.raises(sgais.ConfigError, match="`null` must be one of"):
        comparison.decide(null="fourth")
    with pytest.raises(sgais.ConfigError, match="`level` must lie between"):
        comparison.decide(level=0.0)
    with pytest.raises(sgais.ConfigError, match="must have other models beside it"):
        sgais.Comparison({"none": MODELS["none"]}).decide()
    forgetful = sgais.Comparison(MODELS, history=Reservoir(50))
    forgetful.run(sgais.stream(data(num_rows=200), 100))
    with pytest.raises(sgais.ConfigError, match="`decide` must see all rows"):
        forgetful.decide()


@pytest.mark.parametrize("is_absurd", [False, True])
def test_a_row_that_the_alternative_was_let_off_counts_as_impossible_for_it(is_absurd):
    """The null expects it: to reject it on the other rows alone would break the guarantee."""
    null = sgais.Model(
        prior={"scale": dist.HalfCauchy(1.0)},
        log_likelihood=lambda parameters, rows: dist.Cauchy(0.0, 0.1 + parameters["scale"]).log_prob(rows["y"]),
    )
    comparison = sgais.Comparison({"null": null, "alternative": LinearRegression(dim=3)})
    rows = data(num_rows=600)
    if is_absurd:
        rows["y"][20] = 1e12
    comparison.run(sgais.stream(rows, 200))
    assert comparison.num_rows == 600 - is_absurd
    assert comparison.decide(null="null").verdict == ("not yet" if is_absurd else "reject")
    assert ("would speak against" in comparison["alternative"].warning) == is_absurd
