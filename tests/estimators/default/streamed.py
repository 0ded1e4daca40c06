"""What the tests of the default share: streams that are taken in, and the context of a phase."""

import sgais
from sgais import simulate
from sgais.compute.random_keys import KeySequence
from sgais.estimators.default.context import UpdateContext
from sgais.estimators.default.diagnostics import UpdateDiagnostics
from sgais.models import LinearRegression

MODEL = LinearRegression(dim=5)
DATA = simulate.linear_regression(3000, seed=1).data


def run(data, chunk_size, config=None, seed=0, model=MODEL):
    evidence = sgais.OnlineEvidence(model, config, seed=seed)
    for chunk in sgais.stream(data, chunk_size):
        evidence.update(chunk)
    return evidence


def context_of(model, rows, number):
    return UpdateContext(model, sgais.Config(), rows, KeySequence(0, number), UpdateDiagnostics())
