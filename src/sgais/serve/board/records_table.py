"""What is shown on a board as a table in the form of `Comparison.to_frame`, to be saved and replayed."""

import numpy as np
import pandas as pd

from sgais.comparison.records import ModelStanding
from sgais.serve.board.board import Board
from sgais.serve.board.standing import Remarks

EARLIER = "there was a warning, whose text was not kept"


def records_table(board: Board) -> pd.DataFrame:
    """One line per point and model."""
    records = board.records(0, np.inf, 10**9)
    parts = []
    for model, columns in records["models"].items():
        part = pd.DataFrame(columns, dtype=float).assign(num_rows=records["num_rows"], model=model)
        part["increment"] = part["log_evidence"].diff().fillna(part["log_evidence"])
        part["weight"] = part["probability"]
        part["warning"] = _warnings(part["is_warned"], board.remarks.get(model, Remarks()).warning)
        part["mode_doubt"] = part["mode_doubt"].fillna(0.0)
        parts.append(part)
    table = pd.concat(parts).sort_values("num_rows", kind="stable")
    table["num_rows"] = table["num_rows"].astype(int)
    known = table[table["log_evidence"].notna()]
    return known[["num_rows", "model", *ModelStanding._fields]]


def _warnings(is_warned: "pd.Series[float]", newest: str) -> list[str]:
    """A board keeps the text of the newest warning only: that of others is that there was one."""
    texts = [EARLIER if one == 1.0 else "" for one in is_warned]
    return [*texts[:-1], newest or texts[-1]] if texts else []
