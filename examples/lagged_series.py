"""A time series: each value with the two before it, also across the borders of chunks."""

import numpy as np

import sgais

generator = np.random.default_rng(0)
series = [0.0, 0.0]
for noise in generator.normal(size=600):
    series.append(0.6 * series[-1] - 0.3 * series[-2] + noise)

model = sgais.models.AutoRegression(order=2)
evidence = sgais.OnlineEvidence(model)
for chunk in sgais.streams.lagged(sgais.stream(series, chunk_size=200), order=2):
    evidence.update(chunk)
print(evidence)
print(f"exact: {model.log_evidence(sgais.streams.lagged(series, order=2)):.2f}")
