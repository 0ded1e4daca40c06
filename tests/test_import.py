"""What `import sgais` brings along: nothing that is slow to import and not needed by everybody."""

import subprocess
import sys

HEAVY = ("matplotlib", "pandas", "pyarrow", "arviz", "scipy.optimize", "scipy.stats", "typer", "starlette")


def test_heavy_libraries_wait_until_they_are_needed():
    code = f"import sgais, sys; print([name for name in {HEAVY} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout.strip() == "[]"
