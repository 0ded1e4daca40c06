"""How the name of a file says what is in it."""

from pathlib import PurePosixPath

from sgais.streams.sources.csv_text import CsvSource
from sgais.streams.sources.ndjson import NdjsonSource

FORMATS = {".csv": "csv", ".ndjson": "ndjson", ".jsonl": "ndjson", ".parquet": "parquet", ".pq": "parquet"}
TEXT_SOURCES: dict[str, type[CsvSource] | type[NdjsonSource]] = {"csv": CsvSource, "ndjson": NdjsonSource}


def format_of_name(path: str) -> str | None:
    """The format of a file, compressed or not; None if its name does not tell."""
    suffixes = [suffix.lower() for suffix in PurePosixPath(path).suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    return FORMATS.get(suffixes[-1]) if suffixes else None
