"""One run: what determines its result, and nothing else."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

FORMAT = 1  # of cached runs; raise it when the same settings no longer mean the same run


@dataclass(frozen=True)
class Task:
    """A run to be made.

    Attributes:
        problem: A name of `problems.PROBLEMS`.
        method: A name of `settings`.
        rows: How many of the data are seen.
        data_rows: Of the largest data set, which the rows are the first of.
        seed: Of the estimate.
        parameters: Where they differ from the published ones.
        data_set: Of all that the problem's simulation can make: the seed of the data.
        timed: Whether its seconds matter: then it runs alone. No part of its identity.
    """

    problem: str
    method: str
    rows: int
    data_rows: int
    seed: int
    parameters: Mapping[str, float] = field(default_factory=dict)
    data_set: int = 0
    timed: bool = False

    @property
    def settings(self) -> dict[str, Any]:
        """What the run is found by. The first data set goes without saying: most problems have no other."""
        return {
            "problem": self.problem,
            "method": self.method,
            "rows": self.rows,
            "data_rows": self.data_rows,
            "seed": self.seed,
            "parameters": {name: self.parameters[name] for name in sorted(self.parameters)},
        } | ({"data_set": self.data_set} if self.data_set else {})

    @property
    def key(self) -> str:
        """A short name that no other run has."""
        text = json.dumps({"format": FORMAT} | self.settings, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:20]

    def is_like(self, other: "Task") -> bool:
        """Whether only the number of rows may differ."""
        return replace(self, rows=other.rows, timed=other.timed) == other

    def __hash__(self) -> int:
        return hash((self.key, self.timed))

    def __str__(self) -> str:
        chosen = "".join(f", {name} {value:g}" for name, value in self.settings["parameters"].items())
        data = f", data set {self.data_set}" if self.data_set else ""
        return f"{self.problem}{data}, {self.method}, {self.rows:,} rows{chosen}, seed {self.seed}"


def without_repetitions(tasks: list[Task]) -> list[Task]:
    """Each run once, though several figures may need it; timed if one of them needs its time."""
    found: dict[str, Task] = {}
    for task in tasks:
        known = found.get(task.key)
        found[task.key] = task if known is None else replace(known, timed=known.timed or task.timed)
    return list(found.values())
