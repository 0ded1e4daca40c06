"""Records as the figures get them, without running anything."""

from typing import NamedTuple

import numpy as np
import pytest

from sgais import EvidenceRecord


class Standing(NamedTuple):
    log_evidence: float
    standard_error: float
    probability: float
    low: float
    high: float
    annealing_steps: int
    weight: float


class ComparisonRecord(NamedTuple):
    num_rows: int
    models: dict[str, Standing]


@pytest.fixture
def make_records():
    """Evidence records with log Z = `per_row` nats per row."""

    def make(per_row=-1.5, standard_error=0.5, rows=(500, 1000, 5000, 20_000), steps=(30, 5, 0, 2)):
        defaults = dict.fromkeys(EvidenceRecord._fields, 0)
        return [
            EvidenceRecord(
                **defaults
                | {
                    "num_rows": count,
                    "log_evidence": per_row * count,
                    "standard_error": standard_error,
                    "annealing_steps": taken,
                }
            )
            for count, taken in zip(rows, steps, strict=True)
        ]

    return make


@pytest.fixture
def comparison_records():
    """Model "c" comes late, model "a" fails before the end."""
    shares = [
        {"a": 0.7, "b": 0.3},
        {"a": 0.5, "b": 0.3, "c": 0.2},
        {"a": 0.2, "b": 0.3, "c": 0.5},
        {"b": 0.1, "c": 0.9},
    ]
    return [
        ComparisonRecord(
            rows,
            {
                name: Standing(-2.0 * rows + np.log(share), 0.5, share, share - 0.05, share + 0.05, 3, 1 - share)
                for name, share in at_once.items()
            },
        )
        for rows, at_once in zip((500, 1000, 5000, 20_000), shares, strict=True)
    ]
