"""What `sgais serve` and `--live` need on top of the library."""

import importlib.util

from sgais.errors import ConfigError


def require_extra() -> None:
    """Say how to install it, where it is not."""
    if any(importlib.util.find_spec(name) is None for name in ("starlette", "uvicorn")):
        raise ConfigError("the page must have its packages, got none. Install them: pip install '.[serve]' in a clone.")
