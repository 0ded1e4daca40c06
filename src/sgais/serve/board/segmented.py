"""Change points on a board: where the stream has changed as of now, and the curves of those who look for it."""

import time
from collections.abc import Mapping, Sequence
from math import nan
from typing import Any

import numpy as np
import pandas as pd

from sgais.changepoints import ChangePoints, Segmentation
from sgais.comparison.records import ModelStanding
from sgais.results.json_values import plain
from sgais.serve.board.board import ENDED, REPLAY, RUNNING, Board

CURVES = ("log_evidence", "standard_error", "run_length")  # of the stream as a whole
LEAST_SHOWN = 1e-3  # probability of a change that a line is drawn for
MOST_BORDERS, MOST_SEGMENTS = 400, 200  # what goes to every reader has a limit
SECONDS_BETWEEN_LOOKS = 0.25  # back through the whole stream, which takes longer the longer it is


class SegmentedBoard(Board):
    """A board that shows change points.

    Args:
        mode: As that of a board.
        title: What is looked at.
        models: Their names.
        chunk_size: Rows per chunk.
    """

    def __init__(self, mode: str, title: str, models: Sequence[str], chunk_size: int) -> None:
        super().__init__(mode, title, models, chunk_size, CURVES)
        self._segmentation: dict[str, Any] = _shown(Segmentation(0, np.zeros(0, int), np.zeros(0), []))
        self._last_look = -np.inf

    def note_points(self, points: ChangePoints) -> None:
        """A chunk has been taken in."""
        record = points.last_record
        assert record is not None, "a chunk has been taken in"
        self.note_rows(record.num_rows, [getattr(record, name) for name in CURVES], _standings(points.probabilities))
        if time.monotonic() - self._last_look > SECONDS_BETWEEN_LOOKS:
            self.segment(points.segmentation)
            self._last_look = time.monotonic()
        self.say(RUNNING, _beware(record.warning))

    def segment(self, segmentation: Segmentation) -> None:
        """Where the stream has changed, as is known now."""
        shown = _shown(segmentation)
        with self._lock:
            self._segmentation = shown
            self.version += 1

    def state(self) -> dict[str, Any]:
        """That of a board, and the change points."""
        with self._lock:
            return super().state() | {"segmentation": self._segmentation}


def replayed(
    title: str, models: Sequence[str], records: pd.DataFrame, segmentation: Segmentation, chunk_size: int
) -> SegmentedBoard:
    """The board of a saved run that has looked for change points."""
    board = SegmentedBoard(REPLAY, title, models, chunk_size)
    columns = zip(records["num_rows"], *(records[name] for name in CURVES), strict=True)
    for num_rows, *curves in columns:
        board.add_point((num_rows, nan, nan, nan, *curves), {})
    board.segment(segmentation)
    board.say(ENDED, _beware(str(records["warning"].iloc[-1])))
    return board


def _standings(probabilities: Mapping[str, float]) -> dict[str, ModelStanding]:
    """Of a model for the present segment, nothing but the probability is known."""
    return {
        name: ModelStanding(nan, nan, nan, share, share, share, share, 0, "") for name, share in probabilities.items()
    }


def _shown(segmentation: Segmentation) -> dict[str, Any]:
    """As plain values: the most probable borders, and the latest segments."""
    probability = segmentation.probability
    likely = np.argsort(-probability, kind="stable")[:MOST_BORDERS]
    likely = np.sort(likely[probability[likely] >= LEAST_SHOWN])
    segments = segmentation.segments
    return {
        "num_rows": segmentation.num_rows,
        "rows": segmentation.borders[likely].tolist(),
        "probabilities": probability[likely].tolist(),
        "num_segments": len(segments),
        "segments": [plain(one._asdict()) for one in segments[-MOST_SEGMENTS:]],
    }


def _beware(warning: str) -> str:
    return f"Beware: {warning}." if warning else ""
