"""A model that is absurd by its own predictive: rows are what it would never make.

A fixed noise scale a thousand times too small, or raw units under priors that are made for standardised data, give a
log Z that is right and means nothing: the best of such models wins with probability one. So a chunk whose rows are far
less probable than rows that the model makes itself is warned of. It is looked at only where log Z has fallen as steeply
as that, so that models which fit pay nothing.
"""

import numpy as np

from sgais.fields import Chunk
from sgais.models.base import Model
from sgais.predictive.outliers import MOST_POSITIONS, surprises
from sgais.predictive.replicates import replicated_log_densities
from sgais.results.record import EvidenceRecord

SURPRISE = 50.0  # nats by which half of the rows are less probable: of a Gaussian, a scale fifteen times too small
FEWEST_ROWS = 8


def may_be_absurd(record: EvidenceRecord, num_rows: int) -> bool:
    """Whether log Z has fallen so steeply over the rows of a chunk that they are worth a look."""
    return num_rows >= FEWEST_ROWS and record.increment < -SURPRISE * num_rows


def absurdity(model: Model, positions: np.ndarray, log_weights: np.ndarray, chunk: Chunk, key: np.ndarray) -> str:
    """What there is to say of a model that has taken these rows in; empty where they are like its own.

    Args:
        model: The model; of one without a `predictive` nothing is known.
        positions: Of the particles, shape (particles, d).
        log_weights: Of the particles, normalised.
        chunk: The rows.
        key: Of the random numbers.
    """
    if model.predictive is None:
        return ""
    drawn = replicated_log_densities(model, positions, log_weights, chunk, key)
    some = positions[np.linspace(0, len(positions) - 1, min(MOST_POSITIONS, len(positions))).astype(int)]
    excess = float(np.median(surprises(model, some, chunk)) + np.median(drawn)) if drawn.size else 0.0
    if not excess > SURPRISE:
        return ""
    return (
        f"the rows are absurd by the model's own predictive, half of them by more than {excess:,.0f} nats: look for a "
        "fixed scale that is too small, or for raw units under a prior for standardised data"
    )
