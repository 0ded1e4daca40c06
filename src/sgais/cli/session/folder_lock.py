"""One run or service per folder: two that write to the same files would spoil them."""

import fcntl
from pathlib import Path
from typing import Any, Self

from sgais.errors import ConfigError


class FolderLock:
    """Held while the block runs; the system lets go of it when the process ends, however that happens."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._file = (folder / ".lock").open("w")

    def __enter__(self) -> Self:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.close()
            raise ConfigError(
                f"`--save` must be a folder that no other run or service uses, got {self._folder}. Stop that one first."
            ) from error
        return self

    def __exit__(self, *_: Any) -> None:
        self._file.close()
