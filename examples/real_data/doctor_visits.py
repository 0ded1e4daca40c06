"""Are visits to the doctor Poisson? 20,190 person-years of the RAND health insurance experiment (statsmodels).

A Poisson regression and a negative-binomial one, which allows for people who differ more than their features say, are
compared as the rows arrive. The check: the likelihoods at the best parameters, by statsmodels.
"""

import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import statsmodels.api as sm

import sgais

frame = sm.datasets.randhie.load_pandas().data
features = frame.drop(columns="mdvis").to_numpy(float)
x = (features - features.mean(axis=0)) / features.std(axis=0)
visits = frame["mdvis"].to_numpy(int)
order = np.random.default_rng(0).permutation(len(visits))  # the file is sorted by person
data = {"x": x[order], "visits": visits[order]}


def log_rate(x):
    """Visits per year, in logs: a weight for each feature."""
    weights = numpyro.sample("weights", dist.Normal(0.0, 1.0).expand([x.shape[1]]).to_event(1))
    intercept = numpyro.sample("intercept", dist.Normal(0.0, 2.0))
    return x @ weights + intercept


def poisson(x, visits):
    """Everybody with the same features has the same rate."""
    rates = jnp.exp(log_rate(x))
    with numpyro.plate("rows", len(visits)):
        numpyro.sample("visit", dist.Poisson(rates), obs=visits)


def negative_binomial(x, visits):
    """Rates differ between people with the same features."""
    rates = jnp.exp(log_rate(x))
    concentration = numpyro.sample("concentration", dist.LogNormal(0.0, 1.0))
    with numpyro.plate("rows", len(visits)):
        numpyro.sample("visit", dist.NegativeBinomial2(rates, concentration), obs=visits)


models = {name: sgais.from_numpyro(program) for name, program in
          (("Poisson", poisson), ("negative binomial", negative_binomial))}  # fmt: skip
comparison = sgais.Comparison(models)
for chunk in sgais.stream(data, chunk_size=1000):
    record = comparison.update(chunk)
    if record.num_rows in (1000, 5000, 20_000):
        factor, error = comparison.log_bayes_factor("negative binomial", "Poisson")
        print(f"{record.num_rows:6d} rows: negative binomial ahead by {factor:.1f} ± {error:.1f} nats")
print(comparison)

design = sm.add_constant(data["x"])
best = {
    "Poisson": sm.Poisson(data["visits"], design).fit(disp=0).llf,
    "negative binomial": sm.NegativeBinomial(data["visits"], design).fit(disp=0).llf,
}
print(f"statsmodels, at the best parameters: ahead by {best['negative binomial'] - best['Poisson']:.1f} nats")
spread = float(np.mean(comparison["negative binomial"].particles["concentration"]))
print(f"Conclusion: visits are overdispersed; variance = mean + mean^2 / {spread:.2f}.")
