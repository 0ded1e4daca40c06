"""Who looks for changes: four answers to one question, with nothing tuned to a series.

Ours and the conjugate one have the same model: Gaussian rows, variances inverse gamma (1, 1) and means N(0,
variance), one pair for each dimension, a hazard of 1 / 100.
"""

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import ruptures
from scipy.special import gammaln

import sgais
from sgais.models.base import Parameters, Rows

HAZARD = 1 / 100


def nothing(values: np.ndarray) -> list[int]:  # noqa: ARG001
    """There never was a change."""
    return []


def pelt(values: np.ndarray) -> list[int]:
    """PELT of ruptures with Gaussian segments and a penalty of BIC."""
    penalty = (2 * values.shape[1] + 1) * np.log(len(values))
    return ruptures.Pelt(model="normal", min_size=2, jump=1).fit(values).predict(pen=penalty)[:-1]


def model_of(dimension: int) -> sgais.Model:
    """The model in the library's terms."""

    def log_likelihood(parameters: Parameters, rows: Rows) -> jnp.ndarray:
        scales = jnp.sqrt(parameters["variance"])
        return dist.Normal(parameters["mean"], scales).log_prob(rows["y"]).sum(axis=-1)

    return sgais.Model(
        {
            "variance": dist.InverseGamma(1.0, 1.0).expand([dimension]).to_event(1),
            "mean": lambda above: dist.Normal(0.0, jnp.sqrt(above["variance"])).to_event(1),
        },
        log_likelihood,
    )


def ours(values: np.ndarray) -> list[int]:
    """`sgais.ChangePoints`, a row at a time: the most probable segmentation."""
    points = sgais.ChangePoints(model_of(values.shape[1]), hazard=HAZARD)
    points.run(sgais.stream({"y": values.astype(np.float32)}, 1))
    return [segment.start for segment in points.segments[1:]]


def conjugate(values: np.ndarray) -> list[int]:
    """The same model with closed-form evidences, all segments kept: the best segmentation by dynamic programming."""
    rows = len(values)
    sums = np.vstack([np.zeros(values.shape[1]), np.cumsum(values, axis=0)])
    squares = np.vstack([np.zeros(values.shape[1]), np.cumsum(values**2, axis=0)])
    best, previous = np.full(rows + 1, -np.inf), np.zeros(rows + 1, int)
    best[0] = 0.0
    for end in range(1, rows + 1):
        starts = np.arange(end)
        counts = (end - starts)[:, None]
        evidence = _log_evidence(counts, sums[end] - sums[:end], squares[end] - squares[:end]).sum(axis=1)
        change = np.where(starts > 0, np.log(HAZARD), 0.0) + (counts[:, 0] - 1) * np.log1p(-HAZARD)
        scores = best[:end] + change + evidence
        best[end], previous[end] = scores.max(), int(scores.argmax())
    changes, at = [], rows
    while at > 0:
        at = int(previous[at])
        changes.append(at)
    return sorted(changes)[1:]


def _log_evidence(counts: np.ndarray, sums: np.ndarray, squares: np.ndarray) -> np.ndarray:
    shape = 1.0 + counts / 2
    scale = 1.0 + 0.5 * (squares - sums**2 / (1.0 + counts))
    return -0.5 * counts * np.log(2 * np.pi) - 0.5 * np.log1p(counts) + gammaln(shape) - shape * np.log(scale)


DETECTORS = {
    "doing nothing": nothing,
    "ruptures PELT": pelt,
    "conjugate BOCPD": conjugate,
    "sgais.ChangePoints": ours,
}
