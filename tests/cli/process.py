"""What a process of the tests does: it becomes the command `sgais`."""

import os
import sys


def run_command(arguments, folder, files, environment):
    """Run a command as if a shell had started it, with files for its three streams."""
    os.chdir(folder)
    os.environ.update(environment or {})
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        mode = os.O_RDONLY if name == "stdin" else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        os.dup2(os.open(files[name], mode), descriptor)
    sys.stdin = os.fdopen(0, closefd=False)

    from sgais.cli import app

    app(arguments, prog_name="sgais")
