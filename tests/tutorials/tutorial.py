"""A tutorial in Markdown as something that can be run: its blocks, and what each of them prints."""

import contextlib
import io
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

# ``sgais`` in a shell block is the installed command of the Python that runs the tests, wherever PATH leads.
SHELL_START = f'set -e\nsgais() {{ "{sys.executable}" -m sgais "$@"; }}\n'
BLOCK = re.compile(r"^```(python|bash)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", flags=re.DOTALL | re.MULTILINE)


class Block(NamedTuple):
    """Something to run.

    Attributes:
        language: `python` or `bash`.
        code: What is run.
        shown: What the tutorial says it prints; empty if nothing.
        line: Where it starts in the file.
    """

    language: str
    code: str
    shown: str
    line: int


def blocks(text: str) -> list[Block]:
    """All blocks that are to be run, in order, each with the text block that follows it."""
    return [
        Block(found[1], found[2], found[3] or "", 1 + text.count("\n", 0, found.start(2)))
        for found in BLOCK.finditer(text)
    ]


def run(path: Path) -> Iterator[tuple[Block, str]]:
    """Run a tutorial top to bottom in the present folder: each block, and what it printed."""
    names: dict[str, object] = {"__name__": "tutorial"}
    for block in blocks(path.read_text(encoding="utf-8")):
        yield block, _run_python(block, path, names) if block.language == "python" else _run_shell(block)


def _run_python(block: Block, path: Path, names: dict[str, object]) -> str:
    """All Python blocks of a tutorial share their names, as in a notebook."""
    code = "\n" * (block.line - 1) + block.code  # so that a traceback has the lines of the file
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(code, path, "exec"), names)
    return printed.getvalue()


def _run_shell(block: Block) -> str:
    finished = subprocess.run(["bash", "-c", SHELL_START + block.code], capture_output=True, text=True, timeout=600)
    assert finished.returncode == 0, f"line {block.line}: {finished.stderr}"
    return finished.stdout
