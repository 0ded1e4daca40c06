"""Bad rows: how they are described, and what is done with them."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sgais.errors import DataError, require

POLICIES = ("raise", "skip", "quarantine")
NOT_NAMES = {"nan", "na", "n/a", "null", "none", "inf", "infinity", "missing"}


class BadRow(NamedTuple):
    """One row that no model should see.

    Attributes:
        source: The name of the source.
        row: Its number in the source; the first row of data is row 0.
        line: Its line, counted from 1, if the source is a text.
        column: The source's column that is at fault; None if the whole row is.
        reason: What is wrong with it.
        values: The row as the source has it.
    """

    source: str
    row: int
    line: int | None
    column: str | None
    reason: str
    values: Any

    def error(self, may_skip: bool = True) -> DataError:
        """What is raised where bad rows are not passed over, and whether they may be."""
        place = f"row {self.row}" + ("" if self.line is None else f" (line {self.line})")
        column = "" if self.column is None else f" column {self.column!r}"
        return DataError(f"`{self.source}` {place}{column} {self.reason}. {self._cure(may_skip)}")

    def _cure(self, may_skip: bool) -> str:
        if not may_skip:
            return "Correct the row: a series has no rows that can be left out."
        skip = "pass over such rows with on_error='skip' (--on-error skip) or 'quarantine'"
        cell = self.values.get(self.column) if isinstance(self.values, dict) else None
        if isinstance(cell, str) and _is_word(cell):
            named = f"categories={{{self.column!r}: [{cell!r}, ...]}} (--categories {self.column}={cell},...)"
            return f"If the column holds names, say them all: {named}. Otherwise correct the row, or {skip}."
        return f"Correct the row, or {skip}."

    def as_json(self) -> str:
        """One line for the quarantine file."""
        entry = {"source": self.source, "row": self.row, "column": self.column, "reason": self.reason}
        return json.dumps({**entry, "values": _plain(self.values)}, default=str)


class Quarantine:
    """A file that bad rows are appended to, one JSON object per line."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        try:
            self._path.open("a").close()
        except OSError as error:
            raise DataError(
                f"`quarantine` must be a file that can be written, got {path}: {error.strerror}."
            ) from error

    def write(self, rows: Sequence[BadRow]) -> None:
        """Append the rows in one go, so that an interrupt leaves no half of a line."""
        if rows:
            with self._path.open("a", encoding="utf-8") as file:
                file.write("".join(row.as_json() + "\n" for row in rows))

    def forget(self, source: str, row: int) -> None:
        """Drop a source's entries from `row` on, which will come again, and the half of a line that a kill leaves."""
        lines = self._path.read_text(encoding="utf-8").splitlines(keepends=True)
        kept = [line for line in lines if line.endswith("\n") and not _is_from(line, source, row)]
        if kept != lines:
            shorter = self._path.with_name(self._path.name + ".unfinished")
            shorter.write_text("".join(kept), encoding="utf-8")
            shorter.replace(self._path)


def check_policy(on_error: str, quarantine: str | Path | None) -> Quarantine | None:
    """The quarantine, if that is the policy."""
    require(on_error in POLICIES, "on_error", f"be one of {', '.join(POLICIES)}", on_error)
    if on_error == "quarantine":
        require(quarantine is not None, "quarantine", "be a path where on_error='quarantine'", quarantine)
        return Quarantine(quarantine or "")
    require(quarantine is None, "quarantine", "come with on_error='quarantine'", quarantine)
    return None


def _is_word(cell: str) -> bool:
    """Whether it may be the name of a category: no number with a slip of the pen."""
    return cell[:1].isalpha() and cell.isprintable() and cell.lower() not in NOT_NAMES


def _is_from(line: str, source: str, row: int) -> bool:
    entry = json.loads(line)
    return bool(entry["source"] == source and entry["row"] >= row)


def _plain(value: Any) -> Any:
    """A value that JSON can hold; what is not finite is written as text."""
    if isinstance(value, dict):
        return {str(name): _plain(entry) for name, entry in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
