"""The files of the page, read once at the start: no request ever opens a path."""

import hashlib
from importlib.resources import files
from typing import NamedTuple

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


class Asset(NamedTuple):
    """One file."""

    content: bytes
    media_type: str
    tag: str


def load_assets() -> dict[str, Asset]:
    """The files by their path on the server; the page itself is `/`."""
    page = files("sgais.serve") / "page"
    assets = {}
    for folder, prefix in ((page, ""), (page / "vendor", "vendor/")):
        for file in folder.iterdir():
            ending = "." + file.name.rpartition(".")[2]
            if file.is_file() and ending in TYPES:
                content = file.read_bytes()
                tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
                assets[f"/page/{prefix}{file.name}"] = Asset(content, TYPES[ending], tag)
    assets["/"] = assets.pop("/page/index.html")
    return assets
