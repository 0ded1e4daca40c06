"""Sums over rows that no single host holds: workers behind a small protocol, and what is sent to them."""

from sgais.cluster.local import Local
from sgais.cluster.shards import Shards, shards
from sgais.cluster.workers import Workers

__all__ = ["Local", "Shards", "Workers", "shards"]
