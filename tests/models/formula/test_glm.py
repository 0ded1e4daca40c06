import numpy as np
import numpyro.distributions as dist
import pandas as pd
import pytest

import sgais
from sgais.models.formula.conjugate import log_evidence

GENERATOR = np.random.default_rng(2)
FRAME = pd.DataFrame({"x": GENERATOR.normal(10, 3, 300), "firm": GENERATOR.choice(list("abcd"), 300)})
FRAME["y"] = (
    5 + 2 * FRAME["x"] + FRAME["firm"].map(dict(zip("abcd", (-3, 0, 2, 4), strict=True))) + GENERATOR.normal(0, 4, 300)
)
CONJUGATE = sgais.glm("y ~ x + firm", priors="conjugate")


def test_the_evidence_under_a_conjugate_prior_is_exact():
    """The frame at once, and in chunks with unused levels: each within errors of the formula's closed form."""
    reader = CONJUGATE.reader(FRAME)
    exact = log_evidence(reader.model, reader.read(FRAME))
    whole = sgais.estimate(CONJUGATE, FRAME)
    assert abs(whole.log_evidence - exact) < 4 * whole.standard_error + 0.01
    scales = {"x": (FRAME["x"].mean(), FRAME["x"].std(ddof=0)), "y": (FRAME["y"].mean(), FRAME["y"].std(ddof=0))}
    unused = sgais.glm("y ~ x + firm", priors="conjugate", levels={"firm": [*"abcd", "z"]}, scales=scales)
    evidence = sgais.OnlineEvidence(unused)
    for start in range(0, 300, 100):
        record = evidence.update(FRAME[start : start + 100].to_dict("records"))
    some = unused.reader(FRAME[:100])
    assert abs(record.log_evidence - log_evidence(some.model, some.read(FRAME))) < 4 * record.standard_error + 0.01


def test_the_closed_form_is_the_integral():
    """Against a sum over a grid of scale and intercept, on a few rows."""
    rows = {"y": np.array([1.0, 4.0, 2.0, 7.0]), "x": np.array([0.0, 1.0, 2.0, 4.0])}
    model = sgais.glm("y ~ 1", priors="conjugate")
    reader = model.reader(rows)
    scales, intercepts = np.exp(np.linspace(-4, 4, 2001))[:, None], np.linspace(-12, 12, 2401)
    target = (rows["y"] - rows["y"].mean()) / rows["y"].std()
    squares = ((target - intercepts[:, None]) ** 2).sum(axis=1)
    variance_prior = np.exp(-(scales**-2)) * scales**-4 * 2 * scales  # of the scale: InverseGamma(1, 1) of its square
    joint = variance_prior * np.exp(-0.5 * (intercepts**2 + squares) / scales**2) / (2 * np.pi) ** 2.5 / scales**5
    steps = np.gradient(scales[:, 0])[:, None] * (intercepts[1] - intercepts[0])
    expected = np.log((joint * steps).sum()) - 4 * np.log(rows["y"].std())
    assert log_evidence(reader.model, reader.read(rows)) == pytest.approx(expected, abs=1e-3)


def test_draws_in_the_units_of_the_data():
    """Of a model whose likelihood is the same at the parameters in the units of the data."""
    reader = sgais.glm("y ~ x * firm").reader(FRAME)
    generator = np.random.default_rng(0)
    draws = {name: generator.normal(size=(3, *part.shape)) for name, part in reader.model.layout.items()}
    draws["scale"] = np.exp(draws["scale"])
    found = reader.model.in_units(draws)
    assert list(found) == [
        "intercept",
        "x",
        *(f"firm[T.{f}]" for f in "bcd"),
        *(f"x:firm[T.{f}]" for f in "bcd"),
        "scale",
    ]
    rows = reader.read(FRAME)
    for draw in range(3):
        by_hand = found["intercept"][draw] + found["x"][draw] * FRAME["x"]
        for firm in "bcd":
            own = found[f"firm[T.{firm}]"][draw] + found[f"x:firm[T.{firm}]"][draw] * FRAME["x"]
            by_hand = by_hand + own * (FRAME["firm"] == firm)
        one = {name: values[draw] for name, values in draws.items()}
        np.testing.assert_allclose(reader.model.predictive(one, rows).mean, by_hand, rtol=1e-4)
        np.testing.assert_allclose(reader.model.predictive(one, rows).variance, found["scale"][draw] ** 2, rtol=1e-5)


def test_a_checkpoint_keeps_what_the_first_rows_have_fixed(tmp_path):
    """Saved and resumed, the same bits as without a break; and another formula is refused."""

    def chunks():
        return [FRAME[:100], FRAME[100:200], FRAME[200:]]

    straight, broken = sgais.OnlineEvidence(CONJUGATE), sgais.OnlineEvidence(CONJUGATE)
    for chunk in chunks():
        straight.update(chunk)
    broken.update(chunks()[0])
    broken.save(tmp_path / "checkpoint")
    resumed = sgais.OnlineEvidence.load(tmp_path / "checkpoint", sgais.glm("y ~ x + firm", priors="conjugate"))
    for chunk in chunks()[1:]:
        resumed.update(chunk)
    assert resumed.log_evidence == straight.log_evidence
    np.testing.assert_array_equal(resumed.particles["x"], straight.particles["x"])
    new = FRAME[:5].drop(columns="y")
    np.testing.assert_array_equal(resumed.predict(new).mean, straight.predict(new).mean)
    with pytest.raises(sgais.CheckpointError, match="must be the one that was saved"):
        sgais.OnlineEvidence.load(tmp_path / "checkpoint", sgais.glm("y ~ x", priors="conjugate"))
    with pytest.raises(sgais.CheckpointError, match="log-prior"):
        sgais.OnlineEvidence.load(
            tmp_path / "checkpoint", sgais.glm("y ~ x + firm", priors="conjugate").with_prior_scale(2)
        )


def test_a_comparison_keeps_the_columns_of_all_its_formulas(tmp_path):
    models = {"x": sgais.glm("y ~ x", priors="conjugate"), "both": CONJUGATE}
    comparison = sgais.Comparison(models)
    comparison.update(FRAME[:200])
    comparison.save(tmp_path / "checkpoint")
    comparison = sgais.Comparison.load(tmp_path / "checkpoint", models)
    comparison.update(FRAME[200:])
    for name, model in models.items():
        reader = model.reader(FRAME[:200])
        exact = log_evidence(reader.model, reader.read(FRAME))
        assert abs(comparison[name].log_evidence - exact) < 4 * comparison[name].standard_error + 0.01
    assert comparison.probabilities["both"] > 0.999
    assert comparison.predict(FRAME[:3]).mean.shape == (3,)
    with pytest.raises(sgais.ConfigError, match="not be a formula where rows have been seen"):
        comparison.add("more", sgais.glm("y ~ firm"))


def test_what_must_be_read_alike_is():
    with pytest.raises(sgais.ConfigError, match="`models` must read 'x' alike"):
        sgais.Comparison({"a": sgais.glm("y ~ x"), "b": sgais.glm("y ~ x", scales={"x": (0.0, 1.0)})}).update(FRAME)
    with pytest.raises(sgais.ConfigError, match="`models` must all be formulas"):
        sgais.Comparison({"a": sgais.glm("y ~ x"), "b": sgais.models.LinearRegression(dim=1)})


def test_priors_can_be_set_by_name():
    priors = {"coefficients": "student_t(3, 0, 2)", "x": dist.Normal(0.0, 0.1), "scale": "half_normal(2)"}
    prior = sgais.glm("y ~ x + firm", priors=priors).reader(FRAME).model.prior
    assert isinstance(prior["firm"].base_dist.base_dist, dist.StudentT)
    assert float(prior["x"].base_dist.base_dist.scale) == 0.1
    assert isinstance(prior["scale"], dist.HalfNormal)
    wider = sgais.glm("y ~ x + firm", priors=priors).with_prior_scale(4.0).reader(FRAME).model.prior
    assert float(wider["x"].base_dist.base_dist.scale) == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"family": "poison"}, "Did you mean 'poisson'"),
        ({"priors": {"x": "normal(0)"}}, "it takes loc, scale"),
        ({"priors": {"x": "gauss(0, 1)"}}, "must be NumPyro distributions or text such as 'normal\\(0, 2.5\\)'"),
        ({"priors": {"x": "normal(0, -1)"}}, "must have arguments that fit"),
        ({"priors": {"xx": "normal(0, 1)"}}, "must name parameters, .* got 'xx'. Did you mean 'x'"),
        ({"priors": "conjugate", "family": "poisson"}, "only for the Gaussian family"),
        ({"on_new_level": "ignore"}, "be 'error' or 'other'"),
        ({"trials": "n"}, "name a column for the binomial family alone"),
        ({"exposure": "x"}, "come with a family of counts or gamma"),
        ({"levels": {"nobody": ["a"]}}, "`levels` must name columns of the formula"),
        ({"levels": {"firm": ["a", "a"]}}, "`levels` must list different levels of 'firm'"),
        ({"group_form": "sideways"}, "`group_form` must be one of"),
    ],
)
def test_what_makes_no_sense_is_refused(options, message):
    with pytest.raises(sgais.ConfigError, match=message):
        sgais.glm("y ~ x + firm", **options).reader(FRAME)


def test_it_says_what_it_is():
    model = sgais.glm("y ~ x + (1 | firm)")
    assert "family gaussian" in str(model)
    text = str(model.reader(FRAME))
    for part in ("response in units of", "levels of firm: a, b, c, d", "x: centre", "x ~ Normal(0, 1)", "4 groups"):
        assert part in text
    assert repr(model) == "glm('y ~ x + (1 | firm)')"


@pytest.mark.slow
def test_however_rows_come_log_z_is_the_same(tmp_path):
    """As one frame, in chunks, from a file, with levels in another order, and with levels that nobody has."""
    generator = np.random.default_rng(8)
    firm = generator.integers(0, 5, 600)
    frame = pd.DataFrame({"x": generator.normal(40, 7, 600), "firm": np.array(list("abcde"))[firm]})
    frame["y"] = 3 * frame["x"] + 15 * generator.normal(size=5)[firm] + 10 * generator.normal(size=600)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    formula = "y ~ x + (1 | firm)"
    models = {
        "frame": sgais.glm(formula),
        "chunks": sgais.glm(formula),
        "file": sgais.glm(formula),
        "order": sgais.glm(formula, levels={"firm": list("dbeac")}),
        "unused": sgais.glm(formula, levels={"firm": list("abcdefgh")}),
    }
    found = {}
    for name, model in models.items():
        found[name] = evidence = sgais.OnlineEvidence(model, seed=1)
        if name == "chunks":
            for start in (0, 500):
                evidence.update(frame[start : start + 500])
        elif name == "file":
            evidence.run(sgais.stream(str(tmp_path / "rows.csv"), chunk_size=500, fields=model.source_fields))
        else:
            evidence.update(frame)
    assert found["file"].log_evidence == found["chunks"].log_evidence  # to the bit
    expected = found["frame"]
    for name, evidence in found.items():
        error = np.hypot(evidence.standard_error, expected.standard_error)
        assert abs(evidence.log_evidence - expected.log_evidence) < 3 * error + 0.01, name
