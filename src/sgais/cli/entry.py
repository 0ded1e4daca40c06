"""The process `sgais`, from its arguments to its exit code."""

import contextlib
import os
import sys

from sgais.cli import app


def main() -> None:
    """Run the command, then end the process at once.

    All is written by then. While Python takes itself apart, a thread of a compiled library that still wants something
    of it would abort the process, and a run that went well would look like one that failed.
    """
    try:
        app(prog_name="sgais")
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):  # whoever read it may be gone
            stream.flush()
    os._exit(code)
