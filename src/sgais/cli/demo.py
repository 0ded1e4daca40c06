"""`sgais demo`: stream linear-regression data and compare the running evidence with the exact one."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from sgais import plots, simulate
from sgais.estimators.record import EvidenceRecord
from sgais.estimators.sgais import Config
from sgais.fields import Chunk
from sgais.models import LinearRegression
from sgais.online import OnlineEvidence
from sgais.streams import stream


def demo(
    rows: Annotated[int, typer.Option(min=1, help="Rows to stream.")] = 1_000_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the data and of the estimate.")] = 0,
    output: Annotated[Path, typer.Option(help="Folder for the curve.")] = Path("demo-output"),
) -> None:
    """Stream simulated data and watch log Z with its error bar next to the exact value."""
    console = Console()
    model = LinearRegression(dim=5)
    config = Config()
    console.print(f"Simulating {rows:,} rows of linear regression, whose evidence is known exactly.")
    data = simulate.linear_regression(rows, seed=seed).data
    ends = [*range(config.chunk_size, rows, config.chunk_size), rows]
    exact = model.log_evidence_curve(data, ends)

    evidence = OnlineEvidence(model, config, seed=seed)
    _watch(console, evidence, data, exact)
    console.print(_table(evidence.records, exact))
    console.print(
        "The error stays where the first thousand rows left it, however many follow. The published algorithm "
        "(Config.paper()) ends about 1,500 nats off at a million rows."
    )
    _write(output, evidence, exact)
    console.print(f"Wrote {output / 'evidence.png'} and {output / 'evidence.csv'}.")


def _watch(console: Console, evidence: OnlineEvidence, data: Chunk, exact: np.ndarray) -> None:
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=None), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("compiling", total=len(exact))
        for truth, chunk in zip(exact, stream(data, evidence.config.chunk_size), strict=True):
            record = evidence.update(chunk)
            description = f"log Z {record.log_evidence:,.1f} ± {record.standard_error:.1f}  exact {truth:,.1f}"
            progress.update(task, advance=1, description=description)


def _table(records: Sequence[EvidenceRecord], exact: np.ndarray) -> Table:
    """The curve each time the data have grown fourfold, and at its end."""
    table = Table("rows", "log Z", "±", "exact", "error", "moves", box=box.SIMPLE, padding=(0, 0, 0, 1))
    for column in table.columns:
        column.justify, column.no_wrap = "right", True
    due = 0
    for record, truth in zip(records, exact, strict=True):
        if record.num_rows < due and record is not records[-1]:
            continue
        due = 4 * record.num_rows
        error = record.log_evidence - truth
        table.add_row(
            f"{record.num_rows:,}",
            f"{record.log_evidence:,.2f}",
            f"{record.standard_error:.2f}",
            f"{truth:,.2f}",
            f"{error:+.2f}",
            str(record.num_moves),
        )
    return table


def _write(output: Path, evidence: OnlineEvidence, exact: np.ndarray) -> None:
    output.mkdir(parents=True, exist_ok=True)
    evidence.to_frame().assign(exact=exact).to_csv(output / "evidence.csv", index=False)
    plots.evidence(evidence.records, exact=exact).savefig(output / "evidence.png", dpi=200)
