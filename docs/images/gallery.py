"""Makes the pictures of docs/gallery.md by running the code that stands there (a minute)."""

import os
import re
import shutil
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent / "gallery.md"


def main() -> None:
    """Run the page's blocks in a folder of their own, and keep the figures."""
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL))
    (HERE / "gallery").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        exec(compile(code, PAGE, "exec"), {"__name__": "gallery"})
        for figure in Path(folder).glob("*.svg"):
            shutil.copy(figure, HERE / "gallery")


if __name__ == "__main__":
    main()
