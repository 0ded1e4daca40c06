"""What `from_pymc` takes, at the same density and the same log Z as written by hand, and what it refuses by name."""

import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

import sgais

pm = pytest.importorskip("pymc", reason="PyMC is not installed: pip install 'sgais[pymc]'")

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(300, 2))
FIRM = GENERATOR.integers(0, 4, 300)
Y = X @ [1.0, -0.5] + 0.3 * FIRM + 0.7 * GENERATOR.normal(size=300)
ROWS = {"x": X, "firm": FIRM, "y": Y}


def hierarchical():
    with pm.Model() as model:
        x, firm, y = pm.Data("x", X[:40]), pm.Data("firm", FIRM[:40]), pm.Data("y", Y[:40])
        slopes = pm.Normal("slopes", 0.0, 2.0, shape=2)
        noise = pm.HalfNormal("noise", 1.0)
        spread = pm.Exponential("spread", 2.0)
        level = pm.Normal("level", 0.0, spread, shape=4)
        pm.Normal("obs", x @ slopes + level[firm], noise, observed=y)
    return model


BY_HAND = sgais.Model(
    prior={
        "slopes": dist.Normal(0.0, 2.0).expand([2]),
        "noise": dist.HalfNormal(1.0),
        "spread": dist.Exponential(2.0),
        "level": lambda above: dist.Normal(0.0, above["spread"]).expand([4]),
    },
    log_likelihood=lambda at, rows: dist.Normal(
        rows["x"] @ at["slopes"] + at["level"][rows["firm"]], at["noise"]
    ).log_prob(rows["y"]),
    fields={"x": sgais.Field((2,)), "firm": sgais.Field(is_integer=True), "y": sgais.Field()},
)


def densities(model, rows, positions):
    rows = {name: jnp.asarray(values) for name, values in rows.items()}
    pointwise = jax.vmap(lambda at: model.log_likelihood_at(at, rows))
    return np.asarray(jax.vmap(model.log_prior_at)(positions)), np.asarray(pointwise(positions))


def test_density_and_draws_are_those_of_the_same_model_by_hand():
    model = sgais.from_pymc(hierarchical())
    assert model.layout == BY_HAND.layout
    positions = model.sample_prior(jax.random.key(3), 6)
    np.testing.assert_allclose(positions, BY_HAND.sample_prior(jax.random.key(3), 6), rtol=1e-6)
    for found, expected in zip(densities(model, ROWS, positions), densities(BY_HAND, ROWS, positions), strict=True):
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-5)
    with pytest.raises(sgais.DataError, match="'firm' is missing"):
        sgais.OnlineEvidence(model).update({"x": X, "y": Y})


def test_log_z_is_that_of_the_ready_model_with_the_same_seed_and_it_predicts():
    with pm.Model() as program:
        x, y = pm.Data("x", X[:40]), pm.Data("y", Y[:40])
        weights, bias = pm.Normal("weights", 0, 1, shape=2), pm.Normal("bias", 0, 1)
        pm.Normal("obs", x @ weights + bias, 1.0, observed=y)
    rows = {"x": X, "y": Y}
    ready = sgais.models.LinearRegression(2)
    found, expected = (sgais.OnlineEvidence(each, seed=1) for each in (sgais.from_pymc(program), ready))
    for evidence in (found, expected):
        evidence.update(rows)
    assert found.log_evidence == pytest.approx(expected.log_evidence, abs=2e-3)  # float32 rounds in another order
    assert found.log_evidence == pytest.approx(ready.log_evidence(rows), abs=0.02)
    predicted = found.predict({"x": np.array([[0.0, 0.0], [1.0, 0.0]])}).mean
    np.testing.assert_allclose(predicted, expected.predict({"x": np.array([[0.0, 0.0], [1.0, 0.0]])}).mean, atol=1e-3)


def test_it_is_the_density_that_pymc_has():
    """PyMC's own function of the free variables, and its Jacobians, on all rows; compiled by PyTensor."""
    program = hierarchical()
    model = sgais.from_pymc(program)
    with program:
        pm.set_data(ROWS)
    position = np.asarray(model.sample_prior(jax.random.key(5), 1))[0]
    by_name = {name: position[part.place].reshape(part.shape) for name, part in model.layout.items()}
    point = {value.name: by_name[value.name.split("_log__")[0]] for value in program.value_vars}
    expected = float(program.compile_logp(mode="FAST_COMPILE")(point))
    prior, likelihood = densities(model, ROWS, position[None])
    assert float(prior[0] + likelihood.sum()) == pytest.approx(expected, rel=1e-5)


def test_a_formula_and_pymc_have_the_same_density():
    table = {"y": Y, "x": X[:, 0]}
    formula = sgais.glm("y ~ x", priors={"scale": "half_normal(1)"}).reader(table)
    columns = formula.read(table)
    x_key, y_key = formula.model.parts.blocks[0].key, formula.model.parts.response.key
    width = formula.model.parts.family.coefficient_scale
    with pm.Model() as program:
        x, y = pm.Data("x_rows", columns[x_key][:, 0]), pm.Data("y_rows", columns[y_key])
        intercept = pm.Normal("intercept", 0, width)
        slope = pm.Normal("x", 0, width, shape=1)
        scale = pm.HalfNormal("scale", 1.0)
        pm.Normal("obs", intercept + slope[0] * x, scale, observed=y)
    model = sgais.from_pymc(program)
    assert list(model.prior) == list(formula.model.prior)
    positions = model.sample_prior(jax.random.key(1), 5)
    rows = {"x_rows": columns[x_key][:, 0], "y_rows": columns[y_key]}
    prior, likelihood = densities(model, rows, positions)
    same_prior, same_likelihood = densities(formula.model, columns, positions)
    np.testing.assert_allclose(prior, same_prior, rtol=1e-5)
    constant = np.log(formula.model.parts.response.units.scale)  # of the response's own units
    np.testing.assert_allclose(likelihood, same_likelihood + constant, rtol=2e-5, atol=2e-5)


PRIORS = {
    "beta": lambda name: pm.Beta(name, 2, 3),
    "cauchy": lambda name: pm.Cauchy(name, 2, 3),
    "chi_squared": lambda name: pm.ChiSquared(name, 3),
    "dirichlet": lambda name: pm.Dirichlet(name, np.array([1.0, 2.0, 3.0])),
    "gamma": lambda name: pm.Gamma(name, 2, 3),
    "gumbel": lambda name: pm.Gumbel(name, 2, 3),
    "half_cauchy": lambda name: pm.HalfCauchy(name, 2),
    "half_student": lambda name: pm.HalfStudentT(name, nu=3, sigma=2),
    "inverse_gamma": lambda name: pm.InverseGamma(name, 2, 3),
    "laplace": lambda name: pm.Laplace(name, 2, 3),
    "log_normal": lambda name: pm.LogNormal(name, 2, 3),
    "logistic": lambda name: pm.Logistic(name, 2, 3),
    "normals": lambda name: pm.MvNormal(name, np.zeros(2), np.array([[2.0, 0.5], [0.5, 1.0]])),
    "student": lambda name: pm.StudentT(name, nu=4, mu=2, sigma=3),
    "truncated": lambda name: pm.TruncatedNormal(name, 2, 3, lower=0),
    "uniform": lambda name: pm.Uniform(name, 2, 3),
    "weibull": lambda name: pm.Weibull(name, 2, 3),
}


def test_known_priors_have_pymcs_densities():
    """Which is what is checked when a model is taken: a wrong translation is refused."""
    with pm.Model() as program:
        parts = [make(name).sum() for name, make in PRIORS.items()]
        pm.Normal("obs", sum(parts[1:], start=parts[0]), 1.0, observed=pm.Data("y", Y[:20]))
    assert list(sgais.from_pymc(program).prior) == list(PRIORS)


def test_a_wrong_translation_is_refused(monkeypatch):
    from sgais.models.programs import pymc_distributions

    monkeypatch.setitem(pymc_distributions.CONTINUOUS, "GumbelRV", lambda at, scale: dist.Gumbel(at, 2 * scale))
    with pm.Model() as program:
        pm.Normal("obs", pm.Gumbel("a", 2, 3), 1.0, observed=pm.Data("y", Y[:20]))
    with pytest.raises(sgais.ModelError, match="prior of 'a' must have the density that PyMC gives"):
        sgais.from_pymc(program)


COUNTS = np.arange(20) % 5
OBSERVATIONS = {
    "binomial": (lambda rate, y: pm.Binomial("obs", 9, pm.math.sigmoid(rate), observed=y), dist.BinomialLogits(0.4, 9)),
    "negative-binomial": (
        lambda rate, y: pm.NegativeBinomial("obs", mu=pm.math.exp(rate), alpha=2, observed=y),
        dist.NegativeBinomial2(np.exp(0.4), 2.0),
    ),
    "mixture": (
        lambda rate, y: pm.NormalMixture("obs", np.array([0.3, 0.7]), pm.math.stack([rate, 1.0]), 1.0, observed=y),
        dist.MixtureSameFamily(dist.CategoricalProbs(jnp.array([0.3, 0.7])), dist.Normal(jnp.array([0.4, 1.0]), 1.0)),
    ),
}


@pytest.mark.parametrize("name", OBSERVATIONS)
def test_observations_of_other_kinds(name):
    make, expected = OBSERVATIONS[name]
    with pm.Model() as program:
        make(pm.Normal("rate", 0, 1), pm.Data("y", COUNTS))
    model, position = sgais.from_pymc(program), jnp.array([0.4])
    found = model.log_likelihood_at(position, {"y": COUNTS})
    np.testing.assert_allclose(found, expected.log_prob(COUNTS), rtol=1e-4)
    assert (model.predictive is None) == (name == "mixture")
    if model.predictive is not None:
        predicted = model.predictive(model.constrain(position), {"y": COUNTS})
        np.testing.assert_allclose(predicted.log_prob(COUNTS), found, rtol=1e-4)


def refused(message, build, **options):
    with pm.Model() as program:
        build()
    with pytest.raises(sgais.SgaisError, match=message):
        sgais.from_pymc(program, **options)


def data():
    return pm.Data("y", Y[:20])


def test_what_cannot_work_is_refused_by_name():
    def observing(make):
        return lambda: pm.Normal("obs", make().sum(), 1.0, observed=data())

    ordered = pm.distributions.transforms.ordered
    refused("no free variables", lambda: pm.Normal("obs", 0, 1, observed=data()))
    refused("no observed variable", lambda: pm.Normal("a", 0, 1))
    refused("variable 'obs' must be observed in a container", lambda: pm.Normal("obs", pm.Normal("a"), 1, observed=Y))
    refused("free variable 'k' is discrete .Bernoulli", observing(lambda: pm.Bernoulli("k", 0.5)))
    refused("prior of 'a' must be one that can be drawn from, got FlatRV", observing(lambda: pm.Flat("a")))
    cut = observing(lambda: pm.Normal("a", 0, 1, shape=2, initval=[0.0, 1.0], transform=ordered))
    refused("free variable 'a' has the transform Ordered", cut)
    refused("`rows` must name containers of .'y'., got 'z'", observing(lambda: pm.Normal("a")), rows=["z"])


def test_row_data_outside_containers_is_refused_by_name():
    def fixed():
        pm.Normal("obs", pm.Normal("a") * X[:20, 0], 1.0, observed=data())

    def each_row():
        y = data()
        pm.Normal("obs", pm.Normal("own", 0, 1, shape=y.shape[0]), 1.0, observed=y)

    def each_row_by_number():
        pm.Normal("obs", pm.Normal("own", 0, 1, shape=20), 1.0, observed=data())

    refused(r"an array of shape \(20,\) that is in no pm.Data", fixed)
    refused("free variable 'own' depends on the rows", each_row)
    refused("It may be the free variable 'own'", each_row_by_number)


def test_potentials_and_rows_that_depend_on_each_other_are_refused():
    def potential():
        a = pm.Normal("a")
        pm.Potential("penalty", -(a**2))
        pm.Normal("obs", a, 1.0, observed=data())

    def centred():
        y = data()
        pm.Normal("obs", pm.Normal("a") * y.mean(), 1.0, observed=y)

    refused("the potential 'penalty' belongs to no row", potential)
    refused("does not factor over rows", centred)


def test_something_else_is_refused():
    with pytest.raises(sgais.ConfigError, match="`model` must be a pymc.Model, got 'int'"):
        sgais.from_pymc(3)


SETTINGS = """
import os, jax, numpy as np, pymc as pm, sgais
before = jax.config.jax_enable_x64
with pm.Model() as program:
    pm.Normal("obs", pm.Normal("a", 0, 1), 1.0, observed=pm.Data("y", np.arange(5.0)))
found = sgais.estimate(sgais.from_pymc(program), {"y": np.arange(5.0)})
assert jax.config.jax_enable_x64 == before
assert "XLA_FLAGS" not in os.environ
print(found.log_evidence, found.particles["a"].dtype)
"""


@pytest.mark.parametrize(("x64", "dtype"), [("0", "float32"), pytest.param("1", "float64", marks=pytest.mark.slow)])
def test_settings_of_jax_stay_as_they_are(x64, dtype):
    environment = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"} | {"JAX_ENABLE_X64": x64}
    printed = subprocess.run(
        [sys.executable, "-c", SETTINGS], env=environment, capture_output=True, text=True, check=True
    ).stdout
    y = np.arange(5.0)
    exact = -2.5 * np.log(2 * np.pi) - 0.5 * np.log(6) - 0.5 * (y @ y - y.sum() ** 2 / 6)
    log_evidence, found = printed.split()
    assert float(log_evidence) == pytest.approx(exact, abs=0.02)
    assert found == dtype


def test_the_command_line_takes_a_model(tmp_path):
    from sgais.cli.arguments.model_specs import model_of

    path = tmp_path / "mine.py"
    path.write_text(
        "import numpy as np, pymc as pm\nwith pm.Model() as model:\n"
        "    pm.Normal('obs', pm.Normal('a', 0, 1), 1.0, observed=pm.Data('y', np.arange(5.0)))\n"
    )
    assert repr(model_of(f"{path}:model", {})) == "Model(a)"
