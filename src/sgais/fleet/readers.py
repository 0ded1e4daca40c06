"""How the rows of a fleet are read: the same for all keys, as the first chunk has fixed it."""

from collections.abc import Mapping
from typing import Any

from sgais.comparison.columns import check_columns
from sgais.compute.prior_draws import sample_prior
from sgais.errors import DataError
from sgais.fields import Chunk, Fields, check_chunk, infer_fields, named_columns
from sgais.fleet.keyed_chunk import KeyedChunk, as_keys, by_key
from sgais.models import fingerprint, reading
from sgais.models.base import Model, ModelLike, real_dtype
from sgais.models.reading import Reader, Reading, ReadingModel, joined

FINGERPRINT_ROWS = 16
PURPOSE = 7417  # of random numbers


class Readers:
    """The models as they were given, and what they have become.

    Args:
        models: By name.
        key: The column of keys.
    """

    def __init__(self, models: Mapping[str, ModelLike], key: str) -> None:
        check_columns(models)
        self.given, self.key = dict(models), key
        self.models: dict[str, Model] = {}
        self._readers: dict[str, Reader | None] = dict.fromkeys(models)
        self._fields: Fields | None = None
        self._first_rows: Chunk = {}

    @property
    def declared(self) -> Fields | None:
        """What the models want of a source, the key left out; None where none of them says."""
        reading = [model.source_fields for model in self.given.values() if isinstance(model, ReadingModel)]
        if reading:
            return {name: field for fields in reading for name, field in fields.items()}
        return next((model.fields for model in self.given.values() if model.fields), None)

    def read(self, chunk: object) -> tuple[KeyedChunk, "Readers"]:
        """The checked rows of a chunk by key, and the readers behind it, which the first chunk settles."""
        columns = dict(named_columns(chunk))
        if self.key not in columns:
            raise DataError(
                f"`chunk` must have the column of keys {self.key!r}, got {sorted(columns)}. Name it: key=..."
            )
        keys = as_keys(self.key, columns.pop(self.key))
        if not columns:
            raise DataError(f"`chunk` must have columns beside {self.key!r}, got none.")
        readings = {name: reading.read(one, self._readers[name], columns) for name, one in self.given.items()}
        reads = any(isinstance(model, ReadingModel) for model in self.given.values())
        arrays = next(iter((joined(readings) if reads else readings).values())).columns
        fields = self._fields or next((model.fields for model in self.given.values() if model.fields), None)
        if fields and not isinstance(chunk, Mapping):  # a table may have more than is wanted
            arrays = {name: values for name, values in arrays.items() if name in fields}
        fields = fields or infer_fields(arrays)
        rows = check_chunk(arrays, fields, real_dtype())
        if len(next(iter(rows.values()))) != len(keys):
            raise DataError(f"`chunk` must have a key for each row, got {len(keys)} keys. Cut the columns alike.")
        return by_key(keys, rows), self if self.models else self._settled(readings, fields, rows)

    def state(self) -> dict[str, Any]:
        """For a checkpoint."""
        prints = {}
        for name, model in self.models.items():
            position = sample_prior(model, 1, 0, PURPOSE)[0]
            prints[name] = fingerprint.take(model, position, self._first_rows)
        readers = {name: None if one is None else one.state() for name, one in self._readers.items()}
        return {"fields": self._fields, "rows": self._first_rows, "readers": readers, "fingerprints": prints}

    def restored(self, state: Mapping[str, Any]) -> "Readers":
        """What had this state."""
        found = Readers(self.given, self.key)
        found._fields, found._first_rows = state["fields"], state["rows"]
        for name, given in self.given.items():
            saved = state["readers"][name]
            if isinstance(given, ReadingModel) and saved is not None:
                reader = given.restored_reader(saved)
                found._readers[name], found.models[name] = reader, reader.model
            else:
                found.models[name] = given.bind(found._first_rows)
            fingerprint.compare(found.models[name], state["fingerprints"][name])
        return found

    def _settled(self, readings: Mapping[str, Reading], fields: Fields, rows: Chunk) -> "Readers":
        found = Readers(self.given, self.key)
        found._fields, found._first_rows = fields, {name: values[:FINGERPRINT_ROWS] for name, values in rows.items()}
        for name, given in self.given.items():
            reader = readings[name].reader
            found._readers[name] = reader
            found.models[name] = given.bind(rows) if reader is None else reader.model
            found.models[name].check_log_likelihood(rows)
        return found
