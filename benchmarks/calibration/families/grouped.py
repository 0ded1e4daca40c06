"""Models with an effect for each group, centred (a prior that depends on a scale) and not (a NumPyro program)."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist

import sgais
from benchmarks.calibration.problem import Problem, Rows, as_float32
from benchmarks.calibration.truths_grid import log_half_cauchy, log_half_normal
from benchmarks.calibration.truths_groups import funnel, horseshoe, random_intercepts, schools

HIERARCHICAL, HORSESHOE, FUNNEL = "hierarchical", "horseshoe and half-Cauchy", "funnel"
MEAN_SCALE, SPREAD = 10.0, 5.0


def problems() -> list[Problem]:
    return [*_hierarchical(), *_horseshoes(), *_funnels()]


def _hierarchical() -> list[Problem]:
    truth = partial(
        random_intercepts,
        mean_scale=MEAN_SCALE,
        log_tau=partial(log_half_normal, scale=SPREAD),
        log_sigma=partial(log_half_normal, scale=SPREAD),
    )
    kinds = [
        ("5 groups, 60 rows, centred", 5, 60, _centred),
        ("5 groups, 60 rows, non-centred", 5, 60, _non_centred),
        ("11 groups, 220 rows, non-centred", 11, 220, _non_centred),
        ("11 groups, 220 rows, centred", 11, 220, _centred),
        ("20 groups, 3000 rows, non-centred", 20, 3000, _non_centred),
        ("20 groups, 3000 rows, centred", 20, 3000, _centred),
        ("40 groups, 200 rows, centred", 40, 200, _centred),
        ("40 groups, 200 rows, non-centred", 40, 200, _non_centred),
    ]
    return [
        Problem(
            name,
            HIERARCHICAL,
            partial(model, groups, dist.HalfNormal(SPREAD)),
            partial(_grouped_rows, groups, rows, 500 + groups, 2.0),
            truth,
            is_quick=groups < 20,
        )
        for name, groups, rows, model in kinds
    ]


def _horseshoes() -> list[Problem]:
    cauchy = dist.HalfCauchy(1.0)
    intercepts = partial(
        random_intercepts,
        mean_scale=MEAN_SCALE,
        log_tau=partial(log_half_cauchy, scale=1.0),
        log_sigma=partial(log_half_cauchy, scale=1.0),
    )
    return [
        Problem("horseshoe, centred", HORSESHOE, partial(_horseshoe_centred, 10), partial(_sparse_rows, 10), horseshoe),
        Problem(
            "horseshoe, non-centred", HORSESHOE, partial(_horseshoe_free, 10), partial(_sparse_rows, 10), horseshoe
        ),
        Problem(
            "half-Cauchy scales, centred",
            HORSESHOE,
            partial(_centred, 8, cauchy),
            partial(_grouped_rows, 8, 160, 602, 0.5),
            intercepts,
        ),
        Problem(
            "half-Cauchy scales, non-centred",
            HORSESHOE,
            partial(_non_centred, 8, cauchy),
            partial(_grouped_rows, 8, 160, 603, 0.5),
            intercepts,
        ),
        Problem(
            "eight schools, centred",
            HORSESHOE,
            _schools_model,
            _schools,
            partial(schools, mean_scale=5.0, log_tau=partial(log_half_cauchy, scale=5.0)),
        ),
    ]


def _funnels() -> list[Problem]:
    return [
        Problem(
            "funnel, 9 effects",
            FUNNEL,
            partial(_funnel_model, 9, 1.0),
            partial(_funnel_rows, 9, 90, 1.0),
            _funnel_truth(1.0),
        ),
        Problem(
            "funnel, 6 effects, weak rows",
            FUNNEL,
            partial(_funnel_model, 6, 5.0),
            partial(_funnel_rows, 6, 60, 5.0),
            _funnel_truth(5.0),
        ),
        Problem(
            "funnel, 9 effects, one row each",
            FUNNEL,
            partial(_funnel_model, 9, 1.0),
            partial(_funnel_rows, 9, 9, 1.0),
            _funnel_truth(1.0),
        ),
        Problem(
            "funnel, 20 effects, non-centred",
            FUNNEL,
            partial(_funnel_free, 20),
            partial(_funnel_rows, 20, 200, 1.0),
            _funnel_truth(1.0),
        ),
    ]


def _funnel_truth(sigma: float) -> Callable[[Rows], Any]:
    return partial(funnel, scale=3.0, sigma=sigma)


def _deal(groups: int, num_rows: int, generator: np.random.Generator) -> np.ndarray:
    """A group for each row: all as often, in random order."""
    return generator.permutation(np.arange(num_rows) % groups)


def _grouped_rows(groups: int, num_rows: int, seed: int, spread: float) -> Rows:
    generator = np.random.default_rng(seed)
    effects, group = 1.0 + spread * generator.normal(size=groups), _deal(groups, num_rows, generator)
    return as_float32(y=effects[group] + generator.normal(size=num_rows)) | {"group": group.astype(np.int32)}


def _sparse_rows(groups: int) -> Rows:
    """All effects but three are nothing."""
    generator = np.random.default_rng(601)
    effects, group = np.zeros(groups), _deal(groups, 8 * groups, generator)
    effects[:3] = [4.0, -6.0, 1.5]
    return as_float32(y=effects[group] + generator.normal(size=len(group))) | {"group": group.astype(np.int32)}


def _funnel_rows(groups: int, num_rows: int, sigma: float) -> Rows:
    generator = np.random.default_rng(700 + groups + num_rows)
    effects, group = 0.6 * generator.normal(size=groups), _deal(groups, num_rows, generator)
    return as_float32(y=effects[group] + sigma * generator.normal(size=num_rows)) | {"group": group.astype(np.int32)}


def _schools() -> Rows:
    y, scale = [28, 8, -3, 7, -1, 1, 18, 12], [15, 10, 16, 11, 9, 11, 10, 18]
    return as_float32(y=np.array(y), scale=np.array(scale)) | {"group": np.arange(8, dtype=np.int32)}


def _effect(parameters: dict[str, jax.Array], rows: Any) -> jax.Array:
    """Each row's own effect, as a product: gathers are slow to differentiate."""
    effects = parameters["effects"]
    one_hot = rows["group"][:, None] == jnp.arange(effects.shape[0])
    return jnp.dot(one_hot.astype(effects.dtype), effects, precision=jax.lax.Precision.HIGHEST)


def _centred(groups: int, scale: dist.Distribution) -> sgais.Model:
    def effects(above: dict[str, jax.Array]) -> dist.Distribution:
        return dist.Normal(above["mu"], above["tau"]).expand([groups]).to_event(1)

    return sgais.Model(
        prior={"mu": dist.Normal(0.0, MEAN_SCALE), "tau": scale, "sigma": scale, "effects": effects},
        log_likelihood=lambda parameters, rows: dist.Normal(_effect(parameters, rows), parameters["sigma"]).log_prob(
            rows["y"]
        ),
    )


def _non_centred(groups: int, scale: dist.Distribution) -> Any:
    def program(group: jax.Array, y: jax.Array) -> None:
        mu = numpyro.sample("mu", dist.Normal(0.0, MEAN_SCALE))
        tau, sigma = numpyro.sample("tau", scale), numpyro.sample("sigma", scale)
        standard = numpyro.sample("standard", dist.Normal(0.0, 1.0).expand([groups]).to_event(1))
        with numpyro.plate("rows", group.shape[0]):
            numpyro.sample("y", dist.Normal(jnp.asarray(mu + tau * standard)[group], sigma), obs=y)

    return sgais.from_numpyro(program)


def _horseshoe_centred(groups: int) -> sgais.Model:
    def effects(above: dict[str, jax.Array]) -> dist.Distribution:
        return dist.Normal(0.0, above["local"] * above["tau"]).to_event(1)

    return sgais.Model(
        prior={
            "tau": dist.HalfCauchy(1.0),
            "local": dist.HalfCauchy(1.0).expand([groups]).to_event(1),
            "effects": effects,
        },
        log_likelihood=lambda parameters, rows: dist.Normal(_effect(parameters, rows), 1.0).log_prob(rows["y"]),
    )


def _horseshoe_free(groups: int) -> Any:
    def program(group: jax.Array, y: jax.Array) -> None:
        tau = numpyro.sample("tau", dist.HalfCauchy(1.0))
        local = numpyro.sample("local", dist.HalfCauchy(1.0).expand([groups]).to_event(1))
        standard = numpyro.sample("standard", dist.Normal(0.0, 1.0).expand([groups]).to_event(1))
        with numpyro.plate("rows", group.shape[0]):
            numpyro.sample("y", dist.Normal(jnp.asarray(tau * local * standard)[group], 1.0), obs=y)

    return sgais.from_numpyro(program)


def _schools_model() -> sgais.Model:
    return sgais.Model(
        prior={
            "mu": dist.Normal(0.0, 5.0),
            "tau": dist.HalfCauchy(5.0),
            "effects": lambda above: dist.Normal(above["mu"], above["tau"]).expand([8]).to_event(1),
        },
        log_likelihood=lambda parameters, rows: dist.Normal(_effect(parameters, rows), rows["scale"]).log_prob(
            rows["y"]
        ),
    )


def _funnel_model(groups: int, sigma: float) -> sgais.Model:
    return sgais.Model(
        prior={
            "v": dist.Normal(0.0, 3.0),
            "effects": lambda above: dist.Normal(0.0, jnp.exp(above["v"] / 2)).expand([groups]).to_event(1),
        },
        log_likelihood=lambda parameters, rows: dist.Normal(_effect(parameters, rows), sigma).log_prob(rows["y"]),
    )


def _funnel_free(groups: int) -> Any:
    def program(group: jax.Array, y: jax.Array) -> None:
        v = numpyro.sample("v", dist.Normal(0.0, 3.0))
        standard = numpyro.sample("standard", dist.Normal(0.0, 1.0).expand([groups]).to_event(1))
        with numpyro.plate("rows", group.shape[0]):
            numpyro.sample("y", dist.Normal(jnp.asarray(jnp.exp(v / 2) * standard)[group], 1.0), obs=y)

    return sgais.from_numpyro(program)
