"""Compiled programs are kept on disk, so that the second run of a model starts at once.

`SGAIS_COMPILATION_CACHE=off` switches this off, a path puts them elsewhere. Who has told JAX where to keep its programs
is left alone. What the compiler needed besides is given back to the system: the C library would keep it, more than a
hundred megabytes after a large program.
"""

import ctypes
import hashlib
import os
import platform
from pathlib import Path

import jax
import jax.monitoring

VARIABLE = "SGAIS_COMPILATION_CACHE"
SHORTEST_COMPILATION = 0.05  # seconds; what compiles faster is not worth a file
LARGE_COMPILATION = 1.0  # seconds; what compiles faster leaves little memory behind
COMPILED = "/jax/core/compile/backend_compile_duration"  # what JAX calls it


def keep_programs() -> None:
    """Tell JAX where to keep compiled programs, unless somebody else has, or there is no place."""
    wanted = os.environ.get(VARIABLE, "")
    if wanted == "off" or jax.config.values["jax_compilation_cache_dir"] is not None:
        return
    folder = (Path(wanted) if wanted else _user_folder()) / _machine()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return
    if os.access(folder, os.W_OK):
        _set("jax_compilation_cache_dir", str(folder))
        _set("jax_persistent_cache_min_compile_time_secs", SHORTEST_COMPILATION)


def give_memory_back() -> None:
    """After each large compilation, hand what the compiler has freed to the system, where the C library can do that."""
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):  # no GNU C library; Windows has none to name
        return

    def listen(event: str, duration_secs: float, **_: str | int) -> None:
        if event == COMPILED and duration_secs > LARGE_COMPILATION:
            trim(0)

    jax.monitoring.register_event_duration_secs_listener(listen)


def _set(name: str, value: object) -> None:
    jax.config.update(name, value)  # type: ignore[no-untyped-call]


def _user_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if base else Path("~/.cache").expanduser()) / "sgais"


def _machine() -> str:
    """A name for processors that understand the same programs: a home folder may be shared by several."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        features = next(line for line in lines if line.startswith(("flags", "Features")))
    except (OSError, StopIteration):
        features = platform.processor()
    known = f"{platform.machine()} {features} {jax.__version__}"
    return hashlib.sha256(known.encode()).hexdigest()[:16]
