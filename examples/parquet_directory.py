"""A directory of Parquet files, left in the middle and taken up again."""

import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import sgais

data = sgais.simulate.linear_regression(num_rows=600, dim=2).data
table = pa.table({"height": data["x"][:, 0], "age": data["x"][:, 1], "weight": data["y"]})

with tempfile.TemporaryDirectory() as folder:
    for day in range(4):
        pq.write_table(table.slice(150 * day, 150), Path(folder) / f"day-{day}.parquet")

    evidence = sgais.OnlineEvidence(sgais.models.LinearRegression(dim=2))
    rows = sgais.stream(folder, chunk_size=200, x=["height", "age"], y="weight")
    evidence.update(next(rows))

    # Elsewhere, later: the position is all that has to be remembered.
    rest = sgais.stream(folder, chunk_size=200, x=["height", "age"], y="weight").seek(rows.position)
    for chunk in rest:
        evidence.update(chunk)
    print(evidence)
