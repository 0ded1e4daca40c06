"""How models stand against each other: one record per chunk, and all of them column by column."""

from collections.abc import Iterator
from typing import Any, NamedTuple, get_type_hints

import numpy as np

from sgais.results.bands import SEPARATED
from sgais.results.record_table import GrowingTable


class ModelStanding(NamedTuple):
    """How one model stands after a chunk.

    Attributes:
        log_evidence: log Z of all rows so far.
        standard_error: Of `log_evidence`.
        increment: log Z of the chunk given the rows before it.
        probability: Of the model, given all rows and the prior odds.
        low: The lower end of the band around it, `sgais.results.bands.BAND` standard errors of the log odds away.
        high: The upper end.
        weight: In predictions; the probability, unless there is forgetting.
        annealing_steps: Of the chunk.
        warning: Why `log_evidence` should not be trusted; empty if nothing is known against it.
        mode_doubt: Nats by which modes that no search has found might change `log_evidence`.
        kernel_bias: The error of `log_evidence` that comes from excess kinetic temperature of the moves, as estimated;
            NaN where that is not known.
    """

    log_evidence: float
    standard_error: float
    increment: float
    probability: float
    low: float
    high: float
    weight: float
    annealing_steps: int
    warning: str
    mode_doubt: float = 0.0  # these have defaults: standings of before them are still read
    kernel_bias: float = float("nan")


class ComparisonRecord(NamedTuple):
    """What is known after a chunk.

    Attributes:
        num_rows: Rows seen so far.
        models: The standing of every model that has not failed.
        log_predictive: Of the chunk, under the models' mixture with the weights that they had before it.

    Example:
        >>> data = sgais.simulate.linear_regression(400, dim=2).data
        >>> models = {"one": sgais.models.LinearRegression(2, features=(0,)), "both": sgais.models.LinearRegression(2)}
        >>> record = sgais.Comparison(models).update(data)
        >>> record.leader, sorted(record.models), record.models["both"].probability > 0.5
        ('both', ['both', 'one'], True)
    """

    num_rows: int
    models: dict[str, ModelStanding]
    log_predictive: float

    def __str__(self) -> str:
        standing = self.models[self.leader]
        return f"{self.num_rows} rows: {self.leader} leads with probability {standing.probability:.3f}."

    @property
    def leader(self) -> str:
        """The model with the highest probability."""
        return max(self.models, key=lambda name: self.models[name].probability)

    @property
    def is_separated(self) -> bool:
        """Whether the leader is beyond doubt, given the errors of the evidences."""
        return len(self.models) > 1 and self.models[self.leader].low > SEPARATED


NUMBERS = {name: kind for name, kind in get_type_hints(ModelStanding).items() if kind in (int, float)}

CHUNKS = {"num_rows": int, "log_predictive": float, "end": int}  # the end of the chunk's rows in the other table


class Standings:
    """A list of `ComparisonRecord`, without the Python objects: a stream may have very many chunks.

    Two tables of numbers: one row per chunk, and one row per chunk and model, since models may come and go.
    """

    def __init__(self) -> None:
        self._chunks = GrowingTable(CHUNKS)
        self._models = GrowingTable({"model": int, **NUMBERS, "warning": int})
        # Texts have numbers, in the order in which they first came.
        self._names: dict[str, int] = {}
        self._warnings: dict[str, int] = {}

    def append(self, record: ComparisonRecord) -> None:
        """Add a record."""
        for name, standing in record.models.items():
            numbers = (getattr(standing, number) for number in NUMBERS)
            self._models.append((_number(name, self._names), *numbers, _number(standing.warning, self._warnings)))
        self._chunks.append((record.num_rows, record.log_predictive, len(self._models)))

    def keep_latest(self, count: int) -> None:
        """Forget the records before the latest."""
        first = max(len(self) - count, 0)
        if first == 0:
            return
        start = self._chunks[first - 1]["end"]
        chunks = self._chunks.columns()
        chunks["end"] -= start
        self._models.keep_latest(len(self._models) - start)
        self._chunks = GrowingTable(CHUNKS)
        self._chunks.extend({name: values[first:] for name, values in chunks.items()})

    def columns(self) -> dict[str, np.ndarray]:
        """One row per chunk and model: the chunk's `num_rows`, the name of the model, and its standing."""
        chunks, models = self._chunks.columns(), self._models.columns()
        counts = np.diff(chunks["end"], prepend=0)
        columns = {
            "num_rows": np.repeat(chunks["num_rows"], counts),
            "model": np.array([*self._names], object)[models.pop("model")],
            "warning": np.array([*self._warnings], object)[models.pop("warning")],
        }
        columns |= models
        return {name: columns[name] for name in ("num_rows", "model", *ModelStanding._fields)}

    def ends(self) -> list[int]:
        """The rows seen after each chunk."""
        ends: list[int] = self._chunks.columns()["num_rows"].tolist()
        return ends

    def state(self) -> dict[str, Any]:
        """For a checkpoint."""
        texts = {"names": [*self._names], "warnings": [*self._warnings]}
        return {"chunks": self._chunks.columns(), "models": self._models.columns(), **texts}

    @classmethod
    def restored(cls, state: dict[str, Any]) -> "Standings":
        """The standings that had this state."""
        standings = cls()
        standings._chunks.extend(state["chunks"])
        standings._models.extend(state["models"], ModelStanding._field_defaults)
        standings._names = {name: number for number, name in enumerate(state["names"])}
        standings._warnings = {warning: number for number, warning in enumerate(state["warnings"])}
        return standings

    def __len__(self) -> int:
        return len(self._chunks)

    def __getitem__(self, number: int) -> ComparisonRecord:
        number = range(len(self))[number]
        chunk, start = self._chunks[number], self._chunks[number - 1]["end"] if number else 0
        names, warnings = list(self._names), list(self._warnings)
        models = {}
        for place in range(start, chunk["end"]):
            values = self._models[place]
            name, warning = names[values.pop("model")], warnings[values.pop("warning")]
            models[name] = ModelStanding(**values, warning=warning)
        return ComparisonRecord(chunk["num_rows"], models, chunk["log_predictive"])

    def __iter__(self) -> Iterator[ComparisonRecord]:
        return (self[number] for number in range(len(self)))


def _number(text: str, known: dict[str, int]) -> int:
    return known.setdefault(text, len(known))
