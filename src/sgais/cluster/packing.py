"""Models as bytes: they are made of functions, which plain pickle cannot send."""

import importlib
import pickle
from functools import lru_cache
from typing import Any

from sgais.errors import ConfigError


class Packed:
    """The bytes of the newest thing that was packed, which are asked for many times."""

    def __init__(self) -> None:
        self._value: Any = None
        self._sent = b""

    def of(self, value: Any) -> bytes:
        """Anything, functions of the user included, as bytes for a process of one's own."""
        if not self._sent or value is not self._value:
            self._value, self._sent = value, _cloudpickle().dumps(value)
        return self._sent


@lru_cache(maxsize=8)
def unpacked(sent: bytes) -> Any:
    """What a process of one's own has packed; one object for the same bytes, so that a model is compiled once."""
    return pickle.loads(sent)


def _cloudpickle() -> Any:
    try:
        return importlib.import_module("cloudpickle")
    except ImportError as error:
        raise ConfigError(
            "`workers` must be sgais.cluster.Local(1) where cloudpickle is missing, got several processes. Install it: "
            "pip install 'sgais[cluster]'."
        ) from error
