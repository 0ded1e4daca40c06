"""A note beside the log of its newest file, so that a file or a folder that is gone is missed.

It is written when a file is begun, before there is a batch in it, and taken away before the last file is dropped:
what it names was there.
"""

import json
from pathlib import Path

from sgais.checkpoint import durable
from sgais.errors import CheckpointError


class Newest:
    """The number of the first row in the newest file.

    Args:
        path: Of the note.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> int | None:
        """The number; None where no file should be there, or the folder is of a version that kept no note."""
        try:
            return int(json.loads(self._path.read_bytes())["first_row"])
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise CheckpointError(f"{self._path} must name the newest file of rows, got damage.") from error

    def write(self, first_row: int) -> None:
        """Note it; on disk when this returns."""
        durable.replace(self._path, json.dumps({"first_row": first_row}).encode() + b"\n")

    def clear(self) -> None:
        """There is no file any more, and none is missing."""
        self._path.unlink(missing_ok=True)
        durable.sync_folder(self._path.parent)
