"""Save and load any state, so that neither a kill nor a full disk loses it."""

from sgais.checkpoint.files import explained, offering_previous, previous, read, require_part, write
from sgais.checkpoint.schedule import Schedule

__all__ = ["Schedule", "explained", "offering_previous", "previous", "read", "require_part", "write"]
