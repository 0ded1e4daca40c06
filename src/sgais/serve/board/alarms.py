"""Alarms of the models' shift detectors, as they are shown."""

from sgais.comparison.comparison import Comparison
from sgais.serve.board.board import ShownAlarm


def new_alarms(comparison: Comparison) -> list[ShownAlarm]:
    """Those that the newest chunk has raised; a detector whose model has failed has not seen it."""
    return [
        ShownAlarm(name, *detector.alarms[-1])
        for name, detector in comparison.detectors.items()
        if detector.drift_detected and detector.num_rows == comparison.num_rows
    ]
