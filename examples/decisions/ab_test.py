"""A sequential A/B test, on counts and on a continuous metric: stop when the null is rejected, whenever that is.

The null says that both arms are alike, whatever their common rate (or mean and scale). The fixed sample beside it is
the one that a test of level 0.05 and power 0.8 would need for the smallest effect worth having; the true effect is
larger, which nobody knows beforehand.
"""

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
from scipy.stats import norm

import sgais

NORMAL_QUANTILES = norm.ppf(0.975) + norm.ppf(0.8)


def visitors(outcome, num_rows=40_000, seed=0):
    """Half of the visitors see the new version, arm 1."""
    generator = np.random.default_rng(seed)
    arm = generator.integers(2, size=num_rows)
    return {"arm": arm.astype(np.float32), "y": outcome(arm, generator)}


def log_odds_of(parameters, rows):
    """Of buying; the null has no effect."""
    return parameters["base"] + parameters.get("effect", 0.0) * rows["arm"]


def buys(parameters, rows):
    """Yes or no."""
    return dist.Bernoulli(logits=log_odds_of(parameters, rows)).log_prob(rows["y"])


def spends(parameters, rows):
    """Any amount."""
    return dist.Normal(log_odds_of(parameters, rows), parameters["scale"]).log_prob(rows["y"])


def sequential(name, prior, effect, log_likelihood, rows, fixed):
    """Look after every 250 visitors, and stop as soon as the null is rejected."""
    null = sgais.Model(prior, log_likelihood)
    alternative = sgais.Model(prior | {"effect": effect}, log_likelihood)
    test = sgais.decisions.EProcess(alternative, null)
    for chunk in sgais.stream(rows, chunk_size=250):
        test.update(chunk)
        if test.rejects(level=0.05):
            break
    mean = float(np.mean(test.alternative.particles["effect"]))
    print(f"{name}: {test.decide(0.05)}")
    print(f"  effect {mean:.3f}; a fixed sample would have taken {fixed:,} rows: {1 - test.num_rows / fixed:.0%} saved")


# 10 % of visitors buy something, 13 % of those who see the new version; a point more would have been worth it.
base, smallest = 0.10, 0.11
variance = base * (1 - base) + smallest * (1 - smallest)
sequential(
    "purchases",
    {"base": dist.Normal(jnp.log(base / (1 - base)), 0.2)},  # what last month was like, give or take
    dist.Normal(0.0, 0.3),
    buys,
    visitors(lambda arm, generator: generator.binomial(1, np.where(arm, 0.13, base))),
    fixed=2 * int(NORMAL_QUANTILES**2 * variance / (smallest - base) ** 2),
)
# They spend 20 on average, with a standard deviation of 5, and 0.6 more; 0.25 more would have been worth it.
sequential(
    "spending",
    {"base": dist.Normal(20.0, 1.0), "scale": dist.LogNormal(jnp.log(5.0), 0.2)},
    dist.Normal(0.0, 1.0),
    spends,
    visitors(lambda arm, generator: generator.normal(20.0 + 0.6 * arm, 5.0), seed=1),
    fixed=2 * int(NORMAL_QUANTILES**2 * 2 * 25.0 / 0.25**2),
)
