"""The past that mini-batches are drawn from: all of it, in memory or on disk, or a reservoir of bounded size."""

from sgais.history.disk import Disk
from sgais.history.memory import Memory
from sgais.history.past import History, Past, RowSpan, RowView, Shuffled, Until, draw
from sgais.history.reservoir import Reservoir

__all__ = ["Disk", "History", "Memory", "Past", "Reservoir", "RowSpan", "RowView", "Shuffled", "Until", "draw"]
