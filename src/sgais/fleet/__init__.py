"""One comparison for each key of a stream, a sensor or a customer, and all of them in a few compiled calls."""

from sgais.fleet.fleet import Fleet
from sgais.fleet.records import FleetAlarm, FleetRecord, Switch

__all__ = ["Fleet", "FleetAlarm", "FleetRecord", "Switch"]
