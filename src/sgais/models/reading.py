"""Models that read rows of their own kind - text, dates, any columns - and fix by the first rows how they do it."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from sgais.errors import ConfigError
from sgais.fields import Chunk, Fields, as_arrays
from sgais.models.base import Model


class Reader(Protocol):
    """What the first rows have fixed, and the model that goes with it."""

    model: Model

    def read(self, rows: object) -> Chunk:
        """Rows as the model takes them."""

    def read_inputs(self, rows: object) -> Chunk:
        """Rows without their observation, for a prediction."""

    def state(self) -> dict[str, Any]:
        """All of it, for a checkpoint."""


@runtime_checkable
class ReadingModel(Protocol):
    """A model whose rows need a reader."""

    @property
    def source_fields(self) -> Fields:
        """The columns that rows must have before they are read."""

    def reader(self, rows: object) -> Reader:
        """The reader that these first rows fix."""

    def restored_reader(self, state: dict[str, Any]) -> Reader:
        """The reader that had this state."""


class Reading(NamedTuple):
    """Rows that have been read.

    Attributes:
        reader: Whose they are; None for a model that takes rows as they are.
        columns: The rows.
    """

    reader: Reader | None
    columns: Chunk


def read(model: object, reader: Reader | None, rows: object, fields: Fields | None = None) -> Reading:
    """Rows as a model takes them; the first ones settle how, where that is open.

    Args:
        model: The model, as it was given.
        reader: What earlier rows have fixed.
        rows: The rows.
        fields: What the model wants, where that is known.
    """
    # A `Model` takes rows as they are; to look for the methods of a protocol costs as much as a row.
    if reader is None and not isinstance(model, Model) and isinstance(model, ReadingModel):
        reader = model.reader(rows)
    return Reading(reader, as_arrays(rows, fields) if reader is None else reader.read(rows))


def joined(readings: Mapping[str, Reading]) -> dict[str, Reading]:
    """The same for several models, each with the columns of all, so that one history serves them."""
    together: Chunk = {}
    for name, reading in readings.items():
        for column, values in reading.columns.items():
            if not np.array_equal(together.setdefault(column, values), values):
                raise ConfigError(
                    f"`models` must read {column!r} alike, got other numbers for {name!r}. Give them the same `levels` "
                    "and `scales`."
                )
    return {name: Reading(reading.reader, together) for name, reading in readings.items()}
