"""From the body of a request to rows that every model will take: all, or a refusal that names row and column."""

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from sgais.errors import DataError, ModelError
from sgais.fields import Chunk, Fields, check_chunk, infer_fields
from sgais.serve.intake.bodies import parse
from sgais.serve.refusal import RefusalError, bad_rows
from sgais.streams.cleaning.bad_rows import BadRow
from sgais.streams.cleaning.cleaning import Cleaner
from sgais.streams.cleaning.mapping import ColumnMapping, column_mapping, wanted_columns
from sgais.streams.source import Piece

BATCH = "the batch"


class Admission:
    """What a batch has to be like.

    Args:
        fields: What the models expect; None until the first batch says it, where no model does.
        columns: The columns of a batch that make up a column of the models.
        categories: Of columns that hold text.
        most_rows: In a batch.
        real_dtype: Of numbers, as the models take them.
        try_out: Shows the models the first rows and their fields; raises what they have against them.
    """

    def __init__(
        self,
        fields: Fields | None,
        columns: Mapping[str, Any],
        categories: Mapping[str, Sequence[Any]],
        most_rows: int,
        real_dtype: np.dtype,
        try_out: Callable[[Chunk, Fields], None],
    ) -> None:
        self.fields = fields
        self._columns, self._categories = columns, categories
        self._most_rows, self._real_dtype, self._try_out = most_rows, real_dtype, try_out
        self.is_tried = False
        self._first = threading.Lock()  # the first batch settles what the others are held against

    @property
    def mapping(self) -> ColumnMapping | None:
        """The columns of a batch for each column of the models; None while nobody has said."""
        return column_mapping(self._columns, self.fields)

    def admit(self, media_type: str, body: bytes) -> Chunk:
        """The rows of a batch, as the models take them. The first takes a while: the models look at it."""
        if self.is_tried:
            return self._admit(media_type, body)
        with self._first:
            return self._admit(media_type, body)

    def inputs(self, media_type: str, body: bytes) -> Chunk:
        """The columns that are known before an observation, for a prediction; as many of them as are sent."""
        piece = parse(media_type, body, None, self._most_rows)
        if not piece.columns and not piece.broken:
            return {}
        self._check_size(piece)
        if piece.broken:
            raise bad_rows(
                [BadRow(BATCH, row, None, None, one.reason, None) for row, one in sorted(piece.broken.items())]
            )
        mapping, fields = self.mapping or {}, self.fields or {}
        sent = {
            name: parts
            for name, parts in mapping.items()
            if all(part in piece.columns for part in ([parts] if isinstance(parts, str) else parts))
        }
        if not sent:
            raise RefusalError(422, f"the rows must have columns of {wanted_columns(mapping)}.", row=None, column=None)
        return self._checked(piece, sent, {name: fields[name] for name in sent})

    def _admit(self, media_type: str, body: bytes) -> Chunk:
        piece = parse(media_type, body, wanted_columns(self.mapping), self._most_rows)
        self._check_size(piece)
        rows = self._checked(piece, self.mapping, self.fields)
        if not self.is_tried:
            self._try(rows)
        return rows

    def _check_size(self, piece: Piece) -> None:
        if piece.num_rows == 0:
            raise RefusalError(422, "a batch must have at least one row.", row=None, column=None)

    def _checked(self, piece: Piece, mapping: ColumnMapping | None, fields: Fields | None) -> Chunk:
        try:
            clean = Cleaner(BATCH, mapping, fields, self._categories).clean(piece, 0)
            if clean.bad_rows:
                raise bad_rows(clean.bad_rows)
            self._check_range(clean.columns, mapping)
            return check_chunk(clean.columns, fields or infer_fields(clean.columns), self._real_dtype)
        except DataError as error:
            raise RefusalError(422, str(error), row=None, column=None) from error
        except RecursionError as error:  # it could just be read, but not even be said
            raise RefusalError(422, "a cell must be a number or a list of numbers.", row=None, column=None) from error

    def _check_range(self, columns: Chunk, mapping: ColumnMapping | None) -> None:
        """Numbers that are finite may still be too large for the models' floats."""
        for name, values in columns.items():
            with np.errstate(over="ignore"):
                is_good = np.isfinite(values.astype(self._real_dtype))
            for place in np.argwhere(~is_good)[:1].tolist():
                parts = name if mapping is None else mapping[name]
                column = parts if isinstance(parts, str) else parts[place[1]]
                reason = f"is too large for {self._real_dtype}, got {values[tuple(place)]}"
                raise bad_rows([BadRow(BATCH, place[0], None, column, reason, None)])

    def _try(self, rows: Chunk) -> None:
        """The first rows show whether the models can do anything with such rows."""
        fields = self.fields or infer_fields(rows)
        try:
            self._try_out(rows, fields)
        except (DataError, ModelError) as error:
            raise RefusalError(422, str(error), row=None, column=None) from error
        self.fields = fields
        self.is_tried = True
