"""The normal-inverse-gamma prior, under which the evidence of a Gaussian regression is known exactly.

In units of the response: variance ~ InverseGamma(a, b), intercept and coefficients ~ N(0, variance / prior precision)
each. With the design matrix A, the precision P = prior precision + A'A, a_n = a + n / 2 and b_n, half the misfit more
than b,

    log Z = log Gamma(a_n) - log Gamma(a) + a log b - a_n log b_n + (log |prior precision| - log |P| - n log 2 pi) / 2.
"""

import numpy as np
import numpyro.distributions as dist
from scipy.special import gammaln

from sgais.fields import Chunk
from sgais.models.base import PriorPart
from sgais.models.formula.model import INTERCEPT, FormulaModel, Parts

SHAPE, RATE = 1.0, 1.0


def conjugate_priors(parts: Parts, width: float) -> dict[str, PriorPart]:
    """The prior of every parameter by name; the scale comes first, for the others are counted in it."""
    variance = dist.InverseGamma(SHAPE, RATE)
    found: dict[str, PriorPart] = {"scale": dist.TransformedDistribution(variance, dist.transforms.PowerTransform(0.5))}
    if parts.has_intercept:
        found[INTERCEPT] = lambda above: dist.Normal(0.0, above["scale"])
    for block in parts.blocks:
        found[block.term] = _scaled_by_noise(len(block.columns), width)
    return found


def _scaled_by_noise(size: int, width: float) -> PriorPart:
    return lambda above: dist.Normal(0.0, width * above["scale"]).expand([size]).to_event(1)


def log_evidence(model: FormulaModel, rows: Chunk, width: float = 1.0) -> float:
    """The exact log evidence of rows that the model's reader has read."""
    parts = model.parts
    response = rows[parts.response.key]
    count = len(response)
    offset = rows[parts.offset_key] / parts.response.units.scale if parts.offset_key else 0.0
    target = response - offset
    ones = [np.ones((count, 1))] if parts.has_intercept else []
    design = np.concatenate([*ones, *(rows[block.key] for block in parts.blocks)], axis=1)
    prior = np.concatenate([np.ones(len(ones)), np.full(design.shape[1] - len(ones), width**-2.0)])
    precision = np.diag(prior) + design.T @ design
    mean = np.linalg.solve(precision, design.T @ target)
    shape, rate = SHAPE + count / 2, RATE + 0.5 * float(target @ target - mean @ precision @ mean)
    volumes = 0.5 * (np.log(prior).sum() - np.linalg.slogdet(precision)[1])
    gammas = gammaln(shape) - gammaln(SHAPE) + SHAPE * np.log(RATE) - shape * np.log(rate)
    slopes = float(np.sum(rows[parts.response.slope_key])) if parts.response.slope_key else 0.0
    return float(
        gammas + volumes - 0.5 * count * np.log(2 * np.pi) - count * np.log(parts.response.units.scale) + slopes
    )
