"""The tutorials as notebooks, made of their Markdown: beside each page of the site, for download.

A block of Python or of the shell becomes a cell with what it prints, the rest Markdown; links are those of the site.
"""

import json
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

BLOCK = re.compile(r"^```(python|bash)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", flags=re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(\]\([^):]+)\.md([#)])")
FOLDER = "docs/tutorials/"
INVITATION = '<a href="{name}.ipynb" download>Download this page as a notebook</a>'


def notebook(text: str) -> dict[str, Any]:
    """A notebook of a tutorial's Markdown."""
    cells, end = [], 0
    for found in BLOCK.finditer(text):
        cells += [_words(text[end : found.start()]), _code(*found.groups(default=""))]
        end = found.end()
    cells.append(_words(text[end:]))
    kept = [cell | {"id": f"cell-{number}"} for number, cell in enumerate(cells) if cell["source"]]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {"cells": kept, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def _words(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": LINK.sub(r"\1.html\2", text).strip()}


def _code(language: str, code: str, printed: str) -> dict[str, Any]:
    source = code.rstrip("\n") if language == "python" else "%%bash\n" + code.rstrip("\n")
    outputs = [{"output_type": "stream", "name": "stdout", "text": printed}] if printed else []
    return {"cell_type": "code", "metadata": {}, "execution_count": None, "source": source, "outputs": outputs}


def write(sources: Path, folder: Path) -> list[Path]:
    """Write a notebook for each tutorial."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for page in sorted(sources.glob("*.md")):
        if page.stem != "README":
            written.append(folder / f"{page.stem}.ipynb")
            content = notebook(page.read_text(encoding="utf-8"))
            written[-1].write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return written


def invite(_: Sphinx, page: str, source: list[str]) -> None:
    """Below the title of a tutorial, a link to its notebook."""
    if page.startswith(FOLDER) and not page.endswith("README"):
        title, _, rest = source[0].partition("\n")
        source[0] = f"{title}\n\n{INVITATION.format(name=page.rpartition('/')[2])}\n{rest}"


def write_beside_pages(app: Sphinx, exception: Exception | None) -> None:
    """Where the site is whole."""
    if exception is None:
        write(Path(app.srcdir) / FOLDER, Path(app.outdir) / FOLDER)


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", invite)
    app.connect("build-finished", write_beside_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
