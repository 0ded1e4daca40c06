"""Has the data-generating distribution changed? Alarms from the evidence curve."""

from sgais.shift.detector import Alarm, ShiftDetector

__all__ = ["Alarm", "ShiftDetector"]
