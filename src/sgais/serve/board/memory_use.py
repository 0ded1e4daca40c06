"""How much memory this process has."""

import math
import os
import sys
from pathlib import Path

_STATUS = Path("/proc/self/statm")


def resident_bytes() -> float:
    """Bytes of memory that the process holds now; the most that it has held where the system tells nothing else.

    A gauge ends nothing: where it cannot be read, for want of a descriptor say, it shows nothing (NaN).
    """
    try:
        return float(_STATUS.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except FileNotFoundError:
        return _peak()
    except (OSError, ValueError, IndexError):
        return math.nan


def _peak() -> float:
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak if sys.platform == "darwin" else peak * 1024)
