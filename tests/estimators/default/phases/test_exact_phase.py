"""The exact phase: all rows are seen by all particles, while these are many."""

import numpy as np
from streamed import MODEL, run

import sgais
from sgais import simulate
from sgais.models import LinearRegression


def test_particles_become_fewer_as_rows_become_more():
    """From 1024 while there are none; the first outright estimate needs no more than 384."""
    evidence = sgais.OnlineEvidence(MODEL)
    sizes = [len(evidence.log_weights)]
    for chunk in sgais.stream(simulate.linear_regression(6000, seed=1).data, 100):
        evidence.update(chunk)
        sizes.append(len(evidence.log_weights))
    assert (sizes[0], sizes[1], sizes[-1]) == (1024, 384, 128)
    assert sizes == sorted(sizes, reverse=True)


def test_no_compilation_for_small_chunks_of_new_sizes(compilations):
    model = LinearRegression(dim=2, noise_scale=1.25)  # no other test has compiled it
    data = simulate.linear_regression(400, dim=2).data
    run(data, 32, model=model)
    first = len(compilations)
    assert first > 0
    evidence = sgais.OnlineEvidence(model)
    for rows in np.split(np.arange(250), np.cumsum([20, 32, 16, 30, 31, 17, 3, 1, 29, 32, 20])):
        evidence.update({name: values[rows] for name, values in data.items()})
    assert len(compilations) == first
