"""The study of e-processes over cells of equal rows against the library, row by row."""

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

import sgais
from benchmarks.decisions.cells import (
    ALTERNATIVE,
    CELLS,
    LINEAR,
    LOGISTIC,
    NULL,
    POISSON,
    Sums,
    draw_cells,
    largest_log_likelihood,
    log_evidence,
)
from sgais.decisions import EProcess

ROWS, CHUNK = 600, 100
TRUTH = np.array([0.0, 0.5, 0.3])


def model(family, columns):
    def log_likelihood(parameters, rows):
        eta = rows["x"][:, columns] @ parameters["w"]
        if family is LINEAR:
            return dist.Normal(eta, jnp.sqrt(parameters["variance"])).log_prob(rows["y"])
        return rows["y"] * eta - family.log_partition_of(eta)

    if family is LINEAR:
        weights = lambda above: (  # noqa: E731
            dist.Normal(0.0, jnp.sqrt(above["variance"])).expand([len(columns)]).to_event(1)
        )
        return sgais.Model({"variance": dist.InverseGamma(1.0, 1.0), "w": weights}, log_likelihood)
    return sgais.Model({"w": dist.Normal(0.0, 1.0).expand([len(columns)]).to_event(1)}, log_likelihood)


class OnDevice:
    """A family as JAX evaluates it."""

    def __init__(self, log_partition_of):
        self.log_partition_of = log_partition_of


@pytest.mark.parametrize(
    ("family", "on_device"),
    [
        (LINEAR, LINEAR),
        (LOGISTIC, OnDevice(lambda eta: jnp.logaddexp(0.0, eta))),
        (POISSON, OnDevice(jnp.exp)),
    ],
    ids=["linear", "logistic", "poisson"],
)
def test_log_e_of_cells_is_that_of_rows(family, on_device):
    generator = np.random.default_rng(5)
    cells = draw_cells(0.5, (1, ROWS), generator)
    y = family.draw((CELLS @ TRUTH)[cells], generator)[0]
    process = EProcess(model(on_device, ALTERNATIVE), model(on_device, NULL))
    sums = Sums(*(np.zeros((1, 6)) for _ in range(3)))
    for start in range(0, ROWS, CHUNK):
        rows = slice(start, start + CHUNK)
        parts = (np.bincount(cells[0, rows], part, 6)[None] for part in (np.ones(CHUNK), y[rows], y[rows] ** 2))
        sums = sums.plus(Sums(*parts))
        value = process.update({"x": CELLS[cells[0, rows]], "y": y[rows]})
        evidence = log_evidence(family, sums, ALTERNATIVE, 0.0)[0]
        largest = largest_log_likelihood(family, sums, NULL)[0]
        error = process.alternative.standard_error
        assert abs(process.alternative.log_evidence - evidence) <= 4 * error + 1e-3
        assert largest - 1e-3 <= value.largest_log_likelihood <= largest + 0.12
        assert value.log_e <= evidence - largest + error + 1e-3
