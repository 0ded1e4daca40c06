"""The families of `sgais.glm`, under priors and units that are declared; truths know nothing of the library.

Counts, heavy tails, steps of a scale: importance sampling around the mode, in float64. Random intercepts: quadrature.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy import stats
from scipy.special import expit, gammaln

import sgais
from benchmarks.calibration.problem import Method, Problem, Rows, Truth, as_float32
from benchmarks.calibration.truths_grid import log_half_normal
from benchmarks.calibration.truths_groups import random_intercepts
from benchmarks.calibration.truths_importance import LogJoint, importance, mode_near
from sgais.models.base import ModelLike

FAMILY = "formulas"
NUM_ROWS, DRAWS = 400, 20_000
WIDTH = 2.0  # of coefficients
BASE = 0.5  # the logarithm of the mean count where all coefficients are zero
STEPS, GROUPS = 4, 8
SLOPES = np.array([0.3, 0.6, -0.4])
UNITS = {"x1": (0.0, 1.0), "x2": (0.0, 1.0)}
PRIORS = {"intercept": f"normal(0, {WIDTH})", "coefficients": f"normal(0, {WIDTH})"}


def problems() -> list[Problem]:
    made: list[tuple[str, Callable[[], Rows], Method]] = [
        ("poisson", _counts, poisson),
        ("negative-binomial", partial(_counts, overdispersion=0.7), negative_binomial),
        ("student-t", _heavy_tails, student),
        ("ordinal", _steps, ordinal),
    ]
    found = [Problem(f"formula, {name}", FAMILY, partial(_model, name), rows, truth) for name, rows, truth in made]
    intercepts = partial(
        random_intercepts,
        mean_scale=WIDTH,
        log_tau=partial(log_half_normal, scale=1.0),
        log_sigma=lambda sigma: -sigma,
    )
    return [*found, Problem("formula, random intercepts", FAMILY, _intercepts_model, _grouped, intercepts)]


def _model(family: str) -> ModelLike:
    levels = {"y": list(range(STEPS))} if family == "ordinal" else {}
    response = {} if family == "ordinal" else {"y": (BASE if "nomial" in family or family == "poisson" else 0.0, 1.0)}
    priors = {name: prior for name, prior in PRIORS.items() if family != "ordinal" or name != "intercept"}
    return sgais.glm("y ~ x1 + x2", family=family, priors=priors, levels=levels, scales=UNITS | response)


def _intercepts_model() -> ModelLike:
    return sgais.glm(
        "y ~ 1 + (1 | group)",
        priors={"intercept": PRIORS["intercept"]},
        levels={"group": list(range(GROUPS))},
        scales={"y": (0.0, 1.0)},
    )


def _inputs(seed: int) -> tuple[np.random.Generator, np.ndarray]:
    generator = np.random.default_rng(seed)
    return generator, generator.normal(size=(NUM_ROWS, 2))


def _counts(overdispersion: float = 0.0) -> Rows:
    generator, x = _inputs(701)
    means = np.exp(BASE + SLOPES[0] + x @ SLOPES[1:])
    if overdispersion:
        means = means * np.exp(overdispersion * generator.normal(size=NUM_ROWS))
    y = generator.random(NUM_ROWS)  # by quantiles: gamma variables differ between machines
    return as_float32(x1=x[:, 0], x2=x[:, 1], y=stats.poisson.ppf(y, means))


def _heavy_tails() -> Rows:
    generator, x = _inputs(702)
    noise = stats.t.ppf(generator.random(NUM_ROWS), 3.0)
    return as_float32(x1=x[:, 0], x2=x[:, 1], y=SLOPES[0] + x @ SLOPES[1:] + 0.5 * noise)


def _steps() -> Rows:
    generator, x = _inputs(703)
    latent = x @ SLOPES[1:] + stats.logistic.ppf(generator.random(NUM_ROWS))
    return as_float32(x1=x[:, 0], x2=x[:, 1], y=np.digitize(latent, [-1.0, 0.3, 1.5]))


def _grouped() -> Rows:
    generator = np.random.default_rng(704)
    group = generator.integers(0, GROUPS, NUM_ROWS)
    y = 0.4 + 0.6 * generator.normal(size=GROUPS)[group] + 0.8 * generator.normal(size=NUM_ROWS)
    return as_float32(y=y) | {"group": group}


def poisson(rows: Rows) -> Truth:
    """Counts with mean exp(BASE + linear predictor)."""
    x, y = _columns(rows)

    def log_joint(points: np.ndarray) -> np.ndarray:
        logs = BASE + points @ x.T
        return logs @ y - np.exp(logs).sum(axis=1) - gammaln(y + 1).sum() + _log_prior(points)

    return _found(log_joint, np.zeros(3))


def negative_binomial(rows: Rows) -> Truth:
    """The same with variance = mean + s^2 mean^2, s ~ HalfNormal(1), which enters by its logarithm."""
    x, y = _columns(rows)
    values, times = np.unique(y, return_counts=True)

    def log_joint(points: np.ndarray) -> np.ndarray:
        spread = np.exp(points[:, 3:])
        size, log_means = spread**-2, BASE + points[:, :3] @ x.T
        ways = (gammaln(values + size) - gammaln(size) - gammaln(values + 1)) @ times
        log_total = np.logaddexp(log_means, np.log(size))
        odds = (log_means - log_total) @ y + (size * (np.log(size) - log_total)).sum(axis=1)
        return ways + odds + _log_prior(points[:, :3]) + (log_half_normal(spread, 1.0) + points[:, 3:])[:, 0]

    return _found(log_joint, np.array([0.0, 0.0, 0.0, -0.5]))


def student(rows: Rows) -> Truth:
    """Student's t with scale ~ Exponential(1) and degrees of freedom ~ Gamma(2, 0.1), by their logarithms."""
    x, y = _columns(rows)

    def log_joint(points: np.ndarray) -> np.ndarray:
        scale, freedom = np.exp(points[:, 3:4]), np.exp(points[:, 4:])
        squares = ((y - points[:, :3] @ x.T) / scale) ** 2
        constant = gammaln((freedom + 1) / 2) - gammaln(freedom / 2) - 0.5 * np.log(np.pi * freedom) - np.log(scale)
        logs = (constant - (freedom + 1) / 2 * np.log1p(squares / freedom)).sum(axis=1)
        own = stats.expon.logpdf(scale) + stats.gamma.logpdf(freedom, 2.0, scale=10.0)
        return logs + _log_prior(points[:, :3]) + own[:, 0] + points[:, 3:].sum(axis=1)

    return _found(log_joint, np.array([0.0, 0.0, 0.0, 0.0, 1.5]))


def ordinal(rows: Rows) -> Truth:
    """Proportional odds; the steps' probabilities at a predictor of zero ~ Dirichlet(1), by log ratios to the last."""
    x, y = _columns(rows)
    x, steps = x[:, 1:], y.astype(int)  # cut points stand for the intercept

    def log_joint(points: np.ndarray) -> np.ndarray:
        ratios = np.concatenate([points[:, 2:], np.zeros((len(points), 1))], axis=1)
        logs = ratios - np.logaddexp.reduce(ratios, axis=1, keepdims=True)
        below = np.cumsum(np.exp(logs), axis=1)[:, :-1]
        cuts = np.log(below) - np.log1p(-below)
        ends = np.full((len(points), 1), np.inf)
        edges = np.concatenate([-ends, cuts, ends], axis=1)
        predictor = points[:, :2] @ x.T
        upper, lower = (expit(edges[:, at] - predictor) for at in (steps + 1, steps))
        with np.errstate(divide="ignore"):
            likelihood = np.log(upper - lower).sum(axis=1)
        return likelihood + _log_prior(points[:, :2]) + gammaln(STEPS) + logs.sum(axis=1)

    return _found(log_joint, np.zeros(2 + STEPS - 1))


def _found(log_joint: LogJoint, start: np.ndarray) -> Truth:
    return importance(log_joint, [mode_near(log_joint, start)], DRAWS)


def _columns(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    x = np.column_stack([np.ones(len(rows["y"])), rows["x1"], rows["x2"]]).astype(np.float64)
    return x, rows["y"].astype(np.float64)


def _log_prior(coefficients: np.ndarray) -> np.ndarray:
    return stats.norm.logpdf(coefficients, 0.0, WIDTH).sum(axis=1)
