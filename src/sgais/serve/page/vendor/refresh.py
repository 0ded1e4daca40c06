"""Fetches the newest uPlot from the npm registry into this folder: `make refresh-uplot`, then look at the page."""

import re
import subprocess
import tarfile
import tempfile
from pathlib import Path

FILES = {"dist/uPlot.iife.min.js": "uPlot.js", "dist/uPlot.min.css": "uPlot.css", "LICENSE": "uPlot.LICENSE.txt"}
HERE = Path(__file__).parent


def main() -> None:
    """Unpack the package and note its version."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["npm", "pack", "uplot", "--pack-destination", folder], check=True)
        archive = next(Path(folder).glob("uplot-*.tgz"))
        with tarfile.open(archive) as package:
            for source, target in FILES.items():
                file = package.extractfile(f"package/{source}")
                assert file is not None, "the package has another layout"
                (HERE / target).write_bytes(file.read())
        version = archive.stem.removeprefix("uplot-")
    readme = HERE / "README.md"
    readme.write_text(
        re.sub(r"uPlot [\d.]+\d", f"uPlot {version}", readme.read_text(encoding="utf-8")), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
