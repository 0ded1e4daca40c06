"""Rows through a pipe, as in `zcat people.csv.gz | python evidence.py`.

Without arguments this script plays both parts: it starts itself as the reader and writes rows to it.
"""

import subprocess
import sys

import numpy as np

import sgais


def read() -> None:
    """What stands behind the pipe."""
    evidence = sgais.OnlineEvidence(sgais.models.LinearRegression(dim=2))
    for chunk in sgais.stream("-", chunk_size=200, format="csv", x=["height", "age"], y="weight"):
        evidence.update(chunk)
    print(evidence)


def write() -> None:
    """What stands before it."""
    data = sgais.simulate.linear_regression(num_rows=600, dim=2).data
    with subprocess.Popen([sys.executable, __file__, "read"], stdin=subprocess.PIPE, text=True) as reader:
        rows = np.column_stack([data["x"], data["y"]])
        np.savetxt(reader.stdin, rows, delimiter=",", header="height,age,weight", comments="")
        reader.stdin.close()


if __name__ == "__main__":
    read() if sys.argv[1:] == ["read"] else write()
