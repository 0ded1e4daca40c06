"""A CSV file with a bad row, which goes to quarantine; `.csv.gz` works the same way."""

import tempfile
from pathlib import Path

import numpy as np

import sgais

data = sgais.simulate.linear_regression(num_rows=600, dim=2).data
model = sgais.models.LinearRegression(dim=2)

with tempfile.TemporaryDirectory() as folder:
    path, quarantine = Path(folder) / "people.csv", Path(folder) / "bad.ndjson"
    np.savetxt(path, np.column_stack([data["x"], data["y"]]), delimiter=",", header="height,age,weight", comments="")
    with path.open("a") as file:
        file.write("1.5,unknown,0.3\n")

    evidence = sgais.OnlineEvidence(model)
    rows = sgais.stream(
        path,
        chunk_size=200,
        fields=model.fields,
        on_error="quarantine",
        quarantine=quarantine,
        x=["height", "age"],
        y="weight",
    )
    for chunk in rows:
        evidence.update(chunk)
    print(evidence)
    print(f"{rows.num_bad_rows} bad row: {quarantine.read_text()}", end="")
