"""A fleet as tables, as JSON, as a page and as sentences."""

import html
import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
from rich import box
from rich.console import Console
from rich.table import Table

from sgais.cli.output.console import print_line
from sgais.cli.output.words import share
from sgais.fleet import Fleet, FleetAlarm, Switch

MOST_SHOWN = 20  # keys in the terminal
MOST_ON_PAGE = 1000
STYLE = "body{font:15px sans-serif;margin:2em}td,th{padding:.2em .8em;text-align:right}th{border-bottom:1px solid}"


def alarms_table(fleet: Fleet) -> pd.DataFrame:
    """All alarms so far."""
    return pd.DataFrame([alarm._asdict() for alarm in fleet.alarms], columns=list(FleetAlarm._fields))


def switches_table(fleet: Fleet) -> pd.DataFrame:
    """All switches so far."""
    return pd.DataFrame([switch._asdict() for switch in fleet.switches], columns=list(Switch._fields))


def by_what_happened(fleet: Fleet, most: int) -> pd.DataFrame:
    """The keys to which most has happened."""
    table = fleet.table()
    table["is_noted"] = table["note"] != ""
    order = ["switches", "alarms", "is_noted", "rows"]
    return table.sort_values(order, ascending=False, kind="stable").drop(columns="is_noted").head(most)


def as_json(fleet: Fleet, source: str) -> dict[str, Any]:
    """The result as plain values."""
    keys = {str(name): _plain(line.to_dict()) for name, line in fleet.table().iterrows()}
    return {
        "source": source,
        "num_rows": fleet.num_rows,
        "num_bad_rows": fleet.place.num_bad_rows,
        "seed": fleet.seed,
        "keys": keys,
        "alarms": [alarm._asdict() for alarm in fleet.alarms],
        "switches": [switch._asdict() for switch in fleet.switches],
    }


def page(fleet: Fleet) -> str:
    """A page to look at, of the keys to which most has happened."""
    table = by_what_happened(fleet, MOST_ON_PAGE).drop(columns=["last_seen", "low"])
    numbers = table.to_html(float_format=lambda value: f"{value:.4g}", border=0)
    title = html.escape(str(fleet))
    return f'<!doctype html><meta charset="utf-8"><title>Fleet</title><style>{STYLE}</style><p>{title}</p>{numbers}\n'


def print_fleet(console: Console, fleet: Fleet) -> None:
    """The keys to which most has happened, and how many there are."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    names = [fleet.key, "rows", "leader", "probability", "log Z", "alarms", "switches", "note"]
    for name in names:
        table.add_column(name, justify="left" if name in (fleet.key, "leader", "note") else "right")
    for key, line in by_what_happened(fleet, MOST_SHOWN).iterrows():
        log_evidence = f"{line['log_evidence']:,.2f} ± {line['standard_error']:.2f}"
        counts = [str(line["alarms"]), str(line["switches"])]
        sure = share(line["probability"])
        table.add_row(str(key), f"{line['rows']:,}", line["leader"], sure, log_evidence, *counts, line["note"])
    console.print(table)
    if len(fleet) > MOST_SHOWN:
        print_line(console, f"{len(fleet) - MOST_SHOWN:,} more keys: --output csv shows all.")
    bad = f" {fleet.place.num_bad_rows:,} bad rows passed over." if fleet.place.num_bad_rows else ""
    print_line(console, f"{fleet}{bad}")


def _plain(line: Mapping[Any, Any]) -> dict[str, Any]:
    """JSON knows no NaN."""
    return {
        str(name): None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in line.items()
    }
