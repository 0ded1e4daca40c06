"""How long until the first record, beside `import numpyro` and one trivial compilation?

Each is a process of its own; processor time, which others on the machine disturb least; the fastest of some repeats.
"""

import os
import resource
import subprocess
import sys
import tempfile
from typing import NamedTuple

YARDSTICK = "import jax, numpyro; jax.jit(lambda x: x + 1)(1.0)"
IMPORT = "import sgais"
FIRST_RECORD = """
import sgais
data = sgais.simulate.linear_regression(500).data
sgais.OnlineEvidence(sgais.models.LinearRegression(dim=5)).update(data)
"""


class Startup(NamedTuple):
    """Seconds of processor time."""

    yardstick: float
    library: float  # `import sgais`
    cold: float  # from there to the first record, nothing compiled before
    warm: float  # the same with compiled programs on disk

    def ratios(self) -> dict[str, float]:
        """In yardsticks."""
        return {
            "import": self.library / self.yardstick,
            "first record, cold": self.cold / self.yardstick,
            "first record, warm": self.warm / self.yardstick,
        }


def measure(repeats: int = 3) -> Startup:
    """All four, in turns."""
    rounds = [_round() for _ in range(repeats)]
    return Startup(*(min(times) for times in zip(*rounds, strict=True)))


def _round() -> Startup:
    with tempfile.TemporaryDirectory() as cache:
        return Startup(*(_seconds(code, cache) for code in (YARDSTICK, IMPORT, FIRST_RECORD, FIRST_RECORD)))


def _seconds(code: str, cache: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | {"SGAIS_COMPILATION_CACHE": cache})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
