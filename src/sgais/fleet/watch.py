"""Have the data of a key changed? E-detectors (`shift/e_detector.py`) on ranks, for all keys at once.

The rank of a key's new rows among what its leading model expected is uniform while nothing changes, however few rows
there are. Two detectors for each key and model bet on low and on high ranks; when together they are worth as many rows
as may pass between two false alarms, that is an alarm.
"""

from typing import NamedTuple

import numpy as np

from sgais.fleet.key_table import Column, KeyTable
from sgais.shift.e_detector import NUM_BETS, bets


class Raised(NamedTuple):
    """An alarm.

    Attributes:
        line: Whose, among the keys that were shown.
        location: The row of the key at which the climb began.
        sign: -1 for a fall.
    """

    line: int
    location: int
    sign: int


def columns(num_models: int) -> dict[str, Column]:
    """What the detectors remember of each key."""
    both = (num_models, 2)
    return {
        "heights": Column((*both, NUM_BETS), np.float64),
        "climbs": Column(both, np.float64),
        "climb_starts": Column(both, np.int64),
    }


def show(table: KeyTable, keys: np.ndarray, model: int, ranks: np.ndarray, ends: np.ndarray, rows: np.ndarray) -> None:
    """Let the detectors of one model bet.

    Args:
        table: Of the keys; it is written to.
        keys: Those that have new rows.
        model: Its number.
        ranks: Of the new rows of each key.
        ends: Rows of each key by now.
        rows: New rows of each key.
    """
    won = bets(np.stack([ranks, 1.0 - ranks], axis=1))  # (keys, signs, bets)
    table["heights"][keys, model] = won * (table["heights"][keys, model] + rows[:, None, None])
    climbs = np.maximum(0.0, table["climbs"][keys, model] + np.log(won.mean(axis=2)))
    starts = np.where(climbs == 0.0, ends[:, None], table["climb_starts"][keys, model])
    table["climbs"][keys, model], table["climb_starts"][keys, model] = climbs, starts


def raised(table: KeyTable, keys: np.ndarray, leaders: np.ndarray, mean_rows: float) -> list[Raised]:
    """The alarms of the models that led; who has raised one begins anew."""
    heights = table["heights"][keys, leaders].mean(axis=2)  # (keys, signs)
    lines = np.flatnonzero(heights.mean(axis=1) >= mean_rows)
    found = []
    for line in lines:
        key, side = keys[line], int(np.argmax(heights[line]))
        location = int(table["climb_starts"][key, leaders[line], side])
        found.append(Raised(int(line), location, -1 if side == 0 else 1))
        table["heights"][key], table["climbs"][key] = 0.0, 0.0
        table["climb_starts"][key] = table["num_rows"][key]
    return found
