"""The result of a run: as a table, as JSON, as the whole curve, and as a folder of files."""

import json
import sys
from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from sgais.cli.arguments.options import Output
from sgais.cli.output.console import console_for, print_line
from sgais.cli.output.report import Report
from sgais.cli.output.words import alarm_lines, beware_lines, decision_lines, per_row, share, total, weight_lines
from sgais.cli.session.folder import RunFolder
from sgais.cli.session.session import Session
from sgais.comparison.comparison import Comparison
from sgais.online import OnlineEvidence
from sgais.results.json_values import plain
from sgais.streams.remote.address import without_password

PER_ROW = "per row"


def print_result(session: Session, output: Output) -> None:
    """Write the result to standard output."""
    if output is Output.JSON:
        print(json.dumps(plain(as_json(session)), indent=2))
    elif output is Output.CSV:
        print(session.follower.to_frame().to_csv(index=False), end="")
    else:
        print_table(console_for(), session)


def print_table(console: Console, session: Session) -> None:
    """The models, the changes of the data and what there is to beware of."""
    print_rows(console, *_table(session))
    for line in _sentences(session) + [f"ALARM: {line}." for line in alarm_lines(session.snapshot().alarms)]:
        print_line(console, line)


def print_rows(console: Console, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table whose names do not wrap: where it is too wide, log Z per row is left out; a file has no width."""
    table = _drawn(header, rows)
    needed = console.measure(table, options=console.options.update(max_width=sys.maxsize)).maximum
    if console.is_terminal and needed > console.width:
        kept = [number for number, name in enumerate(header) if name != PER_ROW]
        table = _drawn([header[number] for number in kept], [[row[number] for number in kept] for row in rows])
    elif not console.is_terminal:
        console.width = max(console.width, needed)
    console.print(table)


def _drawn(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for number, name in enumerate(header):
        table.add_column(name, justify="right" if number else "left", no_wrap=bool(number), overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def save_records(session: Session, folder: RunFolder) -> None:
    """Write the curve and the alarms."""
    folder.write_records(session.follower.to_frame(), session.snapshot().alarms)


def write_report(session: Session, folder: RunFolder, story: Sequence[str] = (), pictures: Sequence[str] = ()) -> None:
    """Draw the figures of the records and put them into a report, with further sentences and pictures if there are."""
    header, rows = _table(session)
    figures = [*pictures, *folder.draw(session.follower.records, session.snapshot().alarms)]
    paragraphs = [*_sentences(session), *story, _how(session)]
    alarms = alarm_lines(session.snapshot().alarms)
    Report(session.title, paragraphs, header, rows, alarms, figures).write(folder.path)


def as_json(session: Session) -> dict[str, Any]:
    """The result as plain values."""
    follower, snapshot = session.follower, session.snapshot()
    common = {
        "source": without_password(session.settings.source),
        "num_rows": snapshot.num_rows,
        "num_bad_rows": snapshot.num_bad_rows,
        "seed": session.settings.seed,
        "alarms": [alarm._asdict() for alarm in snapshot.alarms],
    }
    if not isinstance(follower, Comparison):
        return common | {"model": session.name} | _evidence(follower)
    table: dict[Any, Any] = (
        follower.table().drop(columns="note", errors="ignore").to_dict("index") if snapshot.num_rows else {}
    )
    models: dict[str, dict[str, Any]] = {}
    for name in (*snapshot.standings, *snapshot.failures):
        models[name] = table.get(name, {}) | _evidence(follower[name])
        if name in snapshot.failures:
            models[name]["failure"] = snapshot.failures[name]
    last = follower.last_record
    verdict = {"leader": last.leader, "is_separated": last.is_separated} if last else {}
    decision = {} if snapshot.decision is None else {"decision": snapshot.decision._asdict()}
    predictions = {"combine": follower.combine, "score": follower.score, "scores": follower.scores}
    return common | verdict | decision | {"predictions": predictions | {"weights": follower.weights}, "models": models}


def _evidence(evidence: OnlineEvidence) -> dict[str, Any]:
    return {name: getattr(evidence, name) for name in ("log_evidence", "standard_error", "warning", "error_budget")}


def _table(session: Session) -> tuple[list[str], list[list[str]]]:
    snapshot = session.snapshot()
    header = ["model", "log Z", PER_ROW] + (["log Bayes factor", "probability"] if snapshot.is_comparison else [])
    best = next(iter(snapshot.standings.values()))
    rows = []
    for name, standing in snapshot.standings.items():
        cells = [name, total(standing), per_row(standing, snapshot.num_rows).partition(" ")[0]]
        if snapshot.is_comparison:
            cells += [f"{standing.log_evidence - best.log_evidence:,.1f}", share(standing.probability)]
        rows.append(cells)
    return header, rows + [[name, "failed", *[""] * (len(header) - 2)] for name in snapshot.failures]


def _sentences(session: Session) -> list[str]:
    snapshot = session.snapshot()
    bad = f", and {snapshot.num_bad_rows:,} bad rows passed over" if snapshot.num_bad_rows else ""
    sentences = [f"{snapshot.num_rows:,} rows{bad}."]
    sentences += decision_lines(snapshot.decision)
    if isinstance(session.follower, Comparison):
        sentences += weight_lines(session.follower)
    sentences += beware_lines(snapshot)
    if session.settings.paper:
        sentences.append("Paper mode: the published algorithm, which gives no error and is biased at many rows.")
    return sentences


def _how(session: Session) -> str:
    settings = session.settings
    return f"Seed {settings.seed}, {settings.chunk_size:,} rows per chunk, history: {settings.history}."
