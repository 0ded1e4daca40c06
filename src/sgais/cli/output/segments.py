"""Change points as tables, as JSON and as sentences."""

from typing import Any

import pandas as pd
from rich import box
from rich.console import Console
from rich.table import Table

from sgais.changepoints import ChangePoints, Segmentation
from sgais.cli.output.console import print_line
from sgais.cli.output.words import share


def borders(segmentation: Segmentation) -> pd.DataFrame:
    """The probability of a change at each border of chunks."""
    return pd.DataFrame({"row": segmentation.borders, "probability": segmentation.probability})


def segments_table(segmentation: Segmentation) -> pd.DataFrame:
    """The most probable segments."""
    return pd.DataFrame([segment._asdict() for segment in segmentation.segments])


def as_json(points: ChangePoints, source: str) -> dict[str, Any]:
    """The result as plain values."""
    last, segmentation = points.last_record, points.segmentation
    return {
        "source": source,
        "num_rows": points.num_rows,
        "num_bad_rows": points.place.num_bad_rows,
        "hazard": points.hazard,
        "seed": points.seed,
        "log_evidence": points.log_evidence,
        "standard_error": points.standard_error,
        "warning": last.warning if last else "",
        "segments": [segment._asdict() for segment in segmentation.segments],
        "changes": borders(segmentation).to_dict("records"),
    }


def print_segments(console: Console, points: ChangePoints) -> None:
    """The segments, log Z and what there is to beware of."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    names = ["segment", "from row", "to row", "model", "probability of the change"]
    for name in names:
        table.add_column(name, justify="left" if name == "model" else "right")
    for number, one in enumerate(points.segments):
        sure = share(one.probability) if one.start else ""
        table.add_row(str(number + 1), f"{one.start:,}", f"{one.end:,}", one.model, sure)
    console.print(table)
    bad = f", and {points.place.num_bad_rows:,} bad rows passed over" if points.place.num_bad_rows else ""
    print_line(console, f"{points.num_rows:,} rows{bad}.")
    print_line(console, f"log Z = {points.log_evidence:,.2f} ± {points.standard_error:.2f}, change points summed out.")
    if points.last_record and points.last_record.warning:
        print_line(console, f"BEWARE: {points.last_record.warning}.")
