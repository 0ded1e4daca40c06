"""Which source fits what a user passes."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from sgais.errors import ConfigError, DataError, require
from sgais.streams.remote.address import scheme_of
from sgais.streams.schemes import source_at
from sgais.streams.source import Source
from sgais.streams.sources.arrays import ArraySource
from sgais.streams.sources.files import FileLines, FollowedLines, StandardInputLines
from sgais.streams.sources.formats import FORMATS, TEXT_SOURCES, format_of_name
from sgais.streams.sources.iterables import IterableSource
from sgais.streams.sources.parquet import ParquetSource
from sgais.streams.sources.tables import is_table, table_source


def choose_source(
    source: object,
    chunk_size: int,
    follow_seconds: float | None,
    format_name: str | None,
    storage_options: Mapping[str, str],
) -> Source:
    """Look at the type of what was passed and, if it is a path, at how its name ends."""
    if isinstance(source, str) and scheme_of(source):
        return source_at(source, follow_seconds, format_name, storage_options)
    require(not storage_options, "storage_options", "come with a URI of an object store", sorted(storage_options))
    known = sorted(set(FORMATS.values()))
    require(format_name is None or format_name in known, "format", f"be one of {', '.join(known)}", format_name)
    if isinstance(source, str | os.PathLike):
        return _of_path(os.fspath(source), follow_seconds, format_name)
    require(format_name is None, "format", "come with a path or standard input", format_name)
    require(follow_seconds is None, "follow_seconds", "come with a path", follow_seconds)
    if is_table(source):
        return table_source(source)
    if isinstance(source, Mapping) or _is_array(source):
        return ArraySource(source)
    if isinstance(source, Iterable):
        return IterableSource(source, rows_per_piece=chunk_size)
    raise DataError(
        f"`source` must be arrays, a table, a path or an iterable of rows, got a {type(source).__name__}. "
        "See docs/streams.md for all that can be streamed."
    )


def _is_array(source: object) -> bool:
    """Whether the rows are numbers; a list of dictionaries is a list of rows."""
    if isinstance(source, list | tuple):
        return not source or not isinstance(source[0], Mapping)
    return hasattr(source, "__array__") or isinstance(source, np.ndarray)


def _of_path(path: str, follow_seconds: float | None, format_name: str | None) -> Source:
    if path == "-":
        require(follow_seconds is None, "follow_seconds", "come with a path", follow_seconds, "A pipe waits by itself.")
        require(format_name in TEXT_SOURCES, "format", "be 'csv' or 'ndjson' for standard input", format_name)
        return TEXT_SOURCES[str(format_name)](StandardInputLines())
    format_name = format_name or _format_of(path)
    if format_name == "parquet":
        require(follow_seconds is None, "follow_seconds", "come with a CSV or NDJSON file", follow_seconds)
        return ParquetSource(path)
    lines = FileLines(path) if follow_seconds is None else FollowedLines(path, follow_seconds)
    return TEXT_SOURCES[format_name](lines)


def _format_of(path: str) -> str:
    found = format_of_name(path)
    if found is not None:
        return found
    if Path(path).is_dir():
        return "parquet"
    if not Path(path).exists():
        raise DataError(f"`source` must be a path that exists, got {path}.")
    raise ConfigError(
        f"`format` must be given where the name of a file does not end on {', '.join(FORMATS)} (or .gz), got {path}."
    )
