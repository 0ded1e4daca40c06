"""Libraries that only some sources need, imported when they are used."""

import importlib
from typing import Any

from sgais.errors import ConfigError


def extra(module: str, name: str) -> Any:
    """A module of an extra of this package, or the command that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.split(".")[0].replace("_", "-")
        raise ConfigError(
            f"`source` must be of a kind whose library is installed, got {name} without {package}. "
            f"Install it: pip install '.[{name}]' in a clone."
        ) from error
