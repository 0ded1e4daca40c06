"""Messages that no model could take: nobody waits for an answer to them, so they are kept, with the reason."""

import json
import os
import warnings
from pathlib import Path

from sgais.checkpoint.durable import private

MOST_BYTES = 64 * 1024 * 1024  # of the file; what comes then is only counted
LONGEST_BODY = 64 * 1024


class SetAside:
    """A file of NDJSON, made when it is needed.

    Args:
        path: Of the file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._has_warned = False

    def keep(self, origin: str, reason: str, body: bytes) -> bool:
        """Write a message down; False if that cannot be done now."""
        if not self._has_warned:
            self._has_warned = True
            warnings.warn(f"messages are set aside in {self._path}, the first because {reason}", stacklevel=2)
        entry = {"origin": origin, "reason": reason, "body": body[:LONGEST_BODY].decode("utf-8", "replace")}
        try:
            with open(self._path, "ab", opener=private) as file:
                if file.tell() < MOST_BYTES:
                    file.write(json.dumps(entry).encode() + b"\n")
                    file.flush()
                    os.fdatasync(file.fileno())
        except OSError:
            return False
        return True
