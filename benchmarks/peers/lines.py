"""The table of all runs: one line each, written and read back."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.peers.outcome import COMPLETE, Outcome
from benchmarks.peers.task import Task
from benchmarks.tables import read, write

COLUMNS = (*Task.__annotations__, *Outcome._fields)


class Line(NamedTuple):
    """A run and how it ended."""

    task: Task
    outcome: Outcome

    @property
    def error(self) -> float:
        """In nats."""
        return self.outcome.log_evidence - self.outcome.truth


class Cell(NamedTuple):
    """All runs of a method on one data set."""

    problem: str
    method: str
    rows: int
    lines: list[Line]

    @property
    def is_complete(self) -> bool:
        """Whether every run came to its end."""
        return all(line.outcome.ending == COMPLETE for line in self.lines)

    @property
    def seconds(self) -> float:
        """Median."""
        return self.median("seconds")

    @property
    def error(self) -> float:
        """Median of the errors' sizes, in nats."""
        return float(np.median([abs(line.error) for line in self.lines]))

    def median(self, column: str) -> float:
        """Of a number of the outcomes; NaN where it is not known."""
        values = [getattr(line.outcome, column) for line in self.lines]
        return float("nan") if None in values else float(np.median(values))


def cells(lines: list[Line]) -> list[Cell]:
    """The lines by problem, method and rows, in the order in which these first come."""
    found: dict[tuple[str, str, int], Cell] = {}
    for line in lines:
        key = (line.task.problem, line.task.method, line.task.rows)
        found.setdefault(key, Cell(*key, [])).lines.append(line)
    return list(found.values())


def save(table: Path, lines: list[Line]) -> None:
    """Write the table."""
    write(table, COLUMNS, [vars(line.task) | line.outcome._asdict() for line in lines])


def load(table: Path) -> list[Line]:
    """Read it."""
    return [_line(record) for record in read(table)]


def _line(record: dict[str, str]) -> Line:
    task = Task(record["problem"], record["method"], int(record["rows"]), int(record["seed"]))
    values: dict[str, Any] = {name: record[name] for name in ("ending", "words")}
    values |= {name: int(record[name]) if record[name] else None for name in ("likelihoods", "gradients")}
    values |= {name: float(record[name]) for name in Outcome._fields if name not in values}
    return Line(task, Outcome(**values))
