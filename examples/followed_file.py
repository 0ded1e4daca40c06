"""A file that another process is still writing: the stream waits for more, up to a limit."""

import subprocess
import sys
import tempfile
from pathlib import Path

import sgais

WRITER = """
import sys, time, sgais
data = sgais.simulate.linear_regression(num_rows=600, dim=2).data
with open(sys.argv[1], "a") as file:
    for (height, age), weight in zip(data["x"].tolist(), data["y"].tolist()):
        print(height, age, weight, sep=",", file=file, flush=True)
        time.sleep(0.001)
"""

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "people.csv"
    path.write_text("height,age,weight\n")
    with subprocess.Popen([sys.executable, "-c", WRITER, path]):
        evidence = sgais.OnlineEvidence(sgais.models.LinearRegression(dim=2))
        # Ends with 600 rows, or when nothing was written for a minute.
        rows = sgais.stream(path, chunk_size=200, follow_seconds=60, x=["height", "age"], y="weight")
        while rows.position < 600:
            evidence.update(next(rows))
    print(evidence)
