"""Local files that URIs name: `sqlite://file.db` where it is started, `sqlite:///folder/file.db` from the root."""

from pathlib import Path

from sgais.errors import DataError
from sgais.streams.remote.address import Address


def file_of(address: Address) -> Path:
    """The file; refuse one that is not there."""
    path = Path(f"{address.host}/{address.path}" if address.path else address.host)
    if not path.is_file():
        raise DataError(f"`source` must be a file that exists, got {path}.")
    return path
