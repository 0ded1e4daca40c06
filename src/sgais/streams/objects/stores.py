"""Object stores: `s3://bucket/days/*.parquet`, and gs://, az:// and their kin.

Credentials, region and endpoint come from the environment, by the names that each store's own tools use.
"""

import io
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from sgais.errors import ConfigError, DataError
from sgais.streams.objects.file_rows import FileRows
from sgais.streams.objects.listing import FileEntry
from sgais.streams.remote.address import HIDDEN, Address
from sgais.streams.remote.extras import extra
from sgais.streams.remote.patience import Failures, answer_seconds

OPTIONS = ("retry_seconds",)
ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
SET_VARIABLES = (
    "Set the store's variables of the environment: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, "
    "GOOGLE_SERVICE_ACCOUNT, AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY."
)
LONGEST_ANSWER = 30.0  # seconds for a request
SHORTLY = timedelta(seconds=5)  # longer retries are left to those who can be interrupted


class StoreError(Exception):
    """A store did not answer as it should; it may do so later."""


def object_rows(
    uri: str, follow_seconds: float | None, format_name: str | None, storage_options: Mapping[str, str]
) -> FileRows:
    """The source of a URI."""
    address = Address.of(uri, "", OPTIONS)
    return FileRows(address, ObjectListing(address, storage_options), format_name, follow_seconds)


class ObjectListing:
    """The objects that a pattern means, in the order of their names; without stars, one object or all below it.

    Args:
        address: Bucket and pattern.
        storage_options: Of the store, by the names of obstore; they win over the environment.
    """

    failures: Failures = (StoreError,)

    def __init__(self, address: Address, storage_options: Mapping[str, str]) -> None:
        obstore = extra("obstore", "objects")
        self._errors = extra("obstore.exceptions", "objects")
        self._obstore, self._address = obstore, address
        self._secrets = {str(value) for value in storage_options.values()}
        self._store = self._opened(storage_options)

    def files(self) -> list[FileEntry]:
        """Those that there are now."""
        pattern = self._address.path
        with self._explained():
            if "*" not in pattern:
                return self._one(pattern) or self._below(pattern.rstrip("/") + "/" if pattern else "", "**")
            return self._below(pattern[: pattern.rfind("/", 0, pattern.index("*")) + 1], pattern)

    def open(self, entry: FileEntry) -> io.RawIOBase:
        """A file of bytes; reading fails if its content is no longer that of the entry."""
        return _ObjectFile(self, entry)

    def read(self, entry: FileEntry, start: int, end: int) -> Any:
        """Some bytes of an object."""
        with self._explained():
            try:
                found = self._obstore.get(self._store, entry.path, options={"range": (start, end)})
            except FileNotFoundError:
                found = None
            if found is None or _entry(found.meta) != entry:
                raise DataError(
                    f"`{self._address.shown}` must keep its files as they are while they are read, got {entry.path} "
                    "deleted or written anew. Start a new run on what is there."
                )
            return found.bytes()

    def _opened(self, storage_options: Mapping[str, str]) -> Any:
        container = f"{self._address.user}@" if self._address.user else ""  # abfss://container@account...
        root = f"{self._address.scheme}://{container}{self._address.host}"
        endpoints = [*storage_options.values(), *(os.environ.get(name, "") for name in ENDPOINTS)]
        is_plain = any("http://" in str(endpoint) for endpoint in endpoints)
        seconds = answer_seconds(self._address, LONGEST_ANSWER)
        try:
            return self._obstore.store.from_url(
                root,
                config=dict(storage_options),
                client_options={"allow_http": is_plain, "timeout": f"{seconds:g}s", "connect_timeout": "5s"},
                retry_config={"max_retries": 1, "retry_timeout": SHORTLY},
            )
        except self._errors.BaseError as error:
            raise ConfigError(
                f"`source` must be a store that can be opened, got {root}: {self._hide(error)}. {SET_VARIABLES}"
            ) from None

    def _one(self, path: str) -> list[FileEntry]:
        try:
            return [_entry(self._obstore.head(self._store, path))] if path else []
        except FileNotFoundError:
            return []

    def _below(self, prefix: str, pattern: str) -> list[FileEntry]:
        matches = _matcher(pattern)
        pages = self._obstore.list(self._store, prefix=prefix or None)
        found = [entry for page in pages for entry in page if matches.fullmatch(entry["path"]) and entry["size"]]
        return sorted(_entry(each) for each in found if "*" in self._address.path or not _is_hidden(each["path"]))

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Tell what may pass from what will not."""
        try:
            yield
        except (self._errors.PermissionDeniedError, self._errors.UnauthenticatedError) as error:
            raise DataError(
                f"`{self._address.shown}` must let its reader in, got {self._hide(error)}. {SET_VARIABLES}"
            ) from None
        except FileNotFoundError as error:
            raise DataError(
                f"`{self._address.shown}` must be in a bucket that exists, got {self._hide(error)}"
            ) from None
        except (self._errors.BaseError, OSError) as error:
            raise StoreError(self._hide(error)) from None

    def _hide(self, error: BaseException) -> str:
        said = str(error).partition("\n")[0]
        for secret in self._secrets:
            said = said.replace(secret, HIDDEN)
        return said


class _ObjectFile(io.RawIOBase):
    """An object as a file that can be read anywhere."""

    def __init__(self, listing: ObjectListing, entry: FileEntry) -> None:
        self._listing, self._entry, self._position = listing, entry, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._entry.size}[whence]
        self._position = base + offset
        return self._position

    def readinto(self, buffer: Any) -> int:
        end = min(self._position + len(buffer), self._entry.size)
        if end <= self._position:
            return 0
        content = self._listing.read(self._entry, self._position, end)
        buffer[: len(content)] = content
        self._position += len(content)
        return len(content)


def _matcher(pattern: str) -> re.Pattern[str]:
    """A star stays within a folder, two of them do not."""
    words = {"*": "[^/]*", "**": ".*", "**/": "(?:.*/)?"}
    return re.compile(
        "".join(words.get(part, re.escape(part)) for part in re.split(r"(\*\*/?|\*)", pattern)), re.DOTALL
    )


def _is_hidden(path: str) -> bool:
    """Marks of those who write folders of files, such as `_SUCCESS`."""
    return any(part.startswith(("_", ".")) for part in path.split("/"))


def _entry(found: Mapping[str, Any]) -> FileEntry:
    return FileEntry(found["path"], found["size"], found["e_tag"] or str(found["last_modified"]))
