"""A pandas data frame: keywords say which of its columns the model sees under which name."""

import pandas as pd

import sgais

data = sgais.simulate.linear_regression(num_rows=600, dim=2).data
frame = pd.DataFrame({"height": data["x"][:, 0], "age": data["x"][:, 1], "weight": data["y"]})

evidence = sgais.OnlineEvidence(sgais.models.LinearRegression(dim=2))
for chunk in sgais.stream(frame, chunk_size=200, x=["height", "age"], y="weight"):
    evidence.update(chunk)
print(evidence)
