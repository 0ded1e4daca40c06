"""Writes what their blocks print into tutorials: python tests/tutorials/renew.py docs/tutorials/*.md

For the author of a tutorial. Read what it has written before you believe it.
"""

import os
import sys
import tempfile
from pathlib import Path

from tutorial import BLOCK, run


def renew(path: Path) -> None:
    """Run a tutorial and put each block's output behind it."""
    outputs = iter([output for _, output in run(path)])

    def with_output(found) -> str:
        printed = "\n".join(line.rstrip() for line in next(outputs).strip("\n").splitlines())
        return f"```{found[1]}\n{found[2]}```\n" + (f"\n```text\n{printed}\n```\n" if printed else "")

    path.write_text(BLOCK.sub(with_output, path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    for tutorial in [Path(name).resolve() for name in sys.argv[1:]]:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            renew(tutorial)
