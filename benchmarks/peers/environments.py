"""Each peer has a virtual environment of its own, made from its lock file when it is first needed.

`environments/NAME.in` says what was wanted, `NAME.txt` what was chosen:

    uv pip compile --python-version 3.11 --output-file NAME.txt pyproject.toml NAME.in

(`particles` asks for an older NumPy than we do, so that its `NAME.in` repeats our other requirements.) The library
itself is not installed: it is found by its path.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.peers.methods import OURS
from benchmarks.peers.task import ROOT, lock_of

FOLDER = ROOT / ".venv-peers"


def python_of(environment: str) -> Path:
    """The interpreter of an environment, which is made if it is missing or out of date."""
    if environment == OURS:
        return Path(sys.executable)
    folder, lock = FOLDER / environment, lock_of(environment)
    made_from = folder / "made-from.txt"
    if not made_from.exists() or made_from.read_text() != lock.read_text():
        _make(folder, lock)
        shutil.copyfile(lock, made_from)
    return folder / "bin" / "python"


def _make(folder: Path, lock: Path) -> None:
    print(f"making the environment {folder.name}", flush=True)
    uv = str(Path(sys.executable).with_name("uv"))
    python = folder / "bin" / "python"
    subprocess.run([uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)], check=True)
    subprocess.run([uv, "pip", "install", "--quiet", "--python", str(python), "--requirements", str(lock)], check=True)
