"""Sources of chunks. They know nothing of inference and import no JAX."""

from sgais.streams.lagged import lagged
from sgais.streams.stream import Stream, stream

__all__ = ["Stream", "lagged", "stream"]
