"""What is shown on a board as a table in the form of `Comparison.to_frame`, to be saved and replayed."""

import numpy as np
import pandas as pd

from sgais.serve.board import Board
from sgais.standings import Standing


def records_table(board: Board) -> pd.DataFrame:
    """One line per point and model."""
    records = board.records(0, np.inf, 10**9)
    parts = []
    for model, columns in records["models"].items():
        part = pd.DataFrame(columns, dtype=float).assign(num_rows=records["num_rows"], model=model, warning="")
        part["increment"] = part["log_evidence"].diff().fillna(part["log_evidence"])
        part["weight"] = part["probability"]
        parts.append(part)
    table = pd.concat(parts).sort_values("num_rows", kind="stable")
    table["num_rows"] = table["num_rows"].astype(int)
    known = table[table["log_evidence"].notna()]
    return known[["num_rows", "model", *Standing._fields]]
