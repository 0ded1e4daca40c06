"""Builds the site, strictly: python docs/site/build.py [FOLDER]; into build/site unless told otherwise."""

import shutil
import sys
from pathlib import Path

from sphinx.cmd.build import build_main

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def build(folder: Path) -> int:
    """Build everything anew, for a page that is gone must not be found any more; the exit code of Sphinx."""
    shutil.rmtree(ROOT / "docs" / "reference" / "api", ignore_errors=True)
    strict = ["--fail-on-warning", "--keep-going", "--nitpicky"]
    quiet = ["--fresh-env", "--quiet"]
    kept = ["--doctree-dir", str(folder.with_name(folder.name + "-doctrees"))]
    return build_main([*strict, *quiet, *kept, "--conf-dir", str(HERE), str(ROOT), str(folder)])


if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "site").resolve()))
