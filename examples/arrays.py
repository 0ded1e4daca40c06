"""Arrays at hand: a dictionary of columns with one entry per row."""

import sgais

data = sgais.simulate.linear_regression(num_rows=600, dim=2).data  # {"x": (600, 2), "y": (600,)}

evidence = sgais.OnlineEvidence(sgais.models.LinearRegression(dim=2))
for chunk in sgais.stream(data, chunk_size=200):
    evidence.update(chunk)
print(evidence)
