"""Sources of chunks. They know nothing of inference and import no JAX."""

from sgais.streams.arrays import stream
from sgais.streams.lagged import lagged

__all__ = ["lagged", "stream"]
