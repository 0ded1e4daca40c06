"""However many change points there are, what every reader is sent has a limit."""

import numpy as np
import pandas as pd

from sgais.changepoints import Segment, Segmentation
from sgais.serve.board.segmented import LEAST_SHOWN, MOST_BORDERS, MOST_SEGMENTS, replayed

ROWS = 10_000


def test_the_most_probable_borders_and_the_latest_segments_are_told():
    generator = np.random.default_rng(0)
    borders = np.arange(1, ROWS)
    probability = generator.uniform(size=len(borders)) ** 2
    probability[::2] = LEAST_SHOWN / 2
    segments = [Segment(start, start + 10, "model", 0.9) for start in range(0, ROWS, 10)]
    records = pd.DataFrame(
        {"num_rows": [ROWS], "log_evidence": [-1.0], "standard_error": [0.1], "run_length": [10.0], "warning": [""]}
    )
    segmentation = Segmentation(ROWS, borders, probability, segments)
    told = replayed("many", ["model"], records, segmentation, 1).state()["segmentation"]
    assert len(told["rows"]) == MOST_BORDERS
    assert told["rows"] == sorted(told["rows"])
    assert min(told["probabilities"]) == np.sort(probability)[-MOST_BORDERS]
    assert told["num_segments"] == len(segments)
    assert [one["start"] for one in told["segments"]] == [one.start for one in segments[-MOST_SEGMENTS:]]


def test_improbable_borders_are_left_out():
    probability = np.array([LEAST_SHOWN / 2, 0.4, 0.0])
    segmentation = Segmentation(40, np.array([10, 20, 30]), probability, [Segment(0, 40, "model", 1.0)])
    records = pd.DataFrame(
        {"num_rows": [40], "log_evidence": [-1.0], "standard_error": [0.1], "run_length": [9.0], "warning": ["odd"]}
    )
    state = replayed("few", ["model"], records, segmentation, 10).state()
    assert state["segmentation"]["rows"] == [20]
    assert state["message"] == "Beware: odd."
