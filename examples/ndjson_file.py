"""NDJSON, one JSON object per line; a value may be a list of numbers."""

import json
import tempfile
from pathlib import Path

import sgais

data = sgais.simulate.linear_regression(num_rows=600, dim=2).data

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "people.ndjson"
    with path.open("w") as file:
        for x, y in zip(data["x"].tolist(), data["y"].tolist(), strict=True):
            file.write(json.dumps({"x": x, "y": y}) + "\n")

    evidence = sgais.OnlineEvidence(sgais.models.LinearRegression(dim=2))
    for chunk in sgais.stream(path, chunk_size=200):
        evidence.update(chunk)
    print(evidence)
