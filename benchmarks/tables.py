"""Tables of results: comma-separated, read as text, grown line by line."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def read(table: Path) -> list[dict[str, str]]:
    """The lines of a table, none if it is not there yet."""
    if not table.exists():
        return []
    with table.open() as file:
        return list(csv.DictReader(file))


def append(table: Path, columns: Sequence[str], lines: list[dict[str, Any]]) -> None:
    """Add lines to a table, and the names of its columns before the first."""
    table.parent.mkdir(exist_ok=True)
    is_new = not table.exists()
    with table.open("a", newline="") as file:
        writer = csv.DictWriter(file, columns)
        if is_new:
            writer.writeheader()
        writer.writerows(lines)


def write(table: Path, columns: Sequence[str], lines: list[dict[str, Any]]) -> None:
    """Write a table anew."""
    table.unlink(missing_ok=True)
    append(table, columns, lines)
