"""Standard input, output and error as they may be found: closed, or of a terminal that knows ASCII only."""

import codecs
import os
import sys

IN_ASCII = str.maketrans({"±": "+/-", "…": "...", "─": "-", "━": "-", "│": "|", "•": "*"})
HANDLER = "sgais-ascii"


def prepare() -> None:
    """Let every command find three streams that it can use."""
    _open_what_is_closed()
    codecs.register_error(HANDLER, _in_ascii)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors=HANDLER)


def forget_standard_output() -> None:
    """Whoever read it is gone: what is still to be written goes nowhere, and Python does not complain at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _open_what_is_closed() -> None:
    """The next file that is opened would take the number of a closed stream, and be written to as if it were that."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDONLY if number == 0 else os.O_WRONLY)  # takes the lowest number that is free
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", closefd=False))


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(IN_ASCII)
    return text.encode(error.encoding, "replace").decode(error.encoding), error.end
