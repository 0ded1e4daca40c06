"""Rows that no segment can explain, not even one that begins with them: a wrong unit, a slip of the pen.

A change of the data explains almost anything, and is taken in. What is left is the rule of `predictive/outliers.py`,
applied to the particles of the newest segment and to draws from the prior, of every model.
"""

from collections.abc import Mapping

import numpy as np

from sgais.changepoints.bank import Bank
from sgais.compute.prior_draws import sample_prior
from sgais.fields import Chunk, num_rows
from sgais.history import History
from sgais.history.past import latest
from sgais.predictive.outliers import ABSURD, MOST_POSITIONS, REFERENCE_ROWS, outliers

POSITIONS_EACH = MOST_POSITIONS // 2  # of the prior and of the newest segment
PURPOSE = 6143  # of random numbers, unlike those that estimators give their draws


def is_suspicious(increment: float) -> bool:
    """Whether a chunk may have rows that nothing explains."""
    return not increment > -ABSURD


def absurd_rows(banks: Mapping[str, Bank], newest: int, history: History, rows: Chunk, seed: int) -> np.ndarray:
    """The numbers of the rows of a chunk that are absurd to every model; none where that is all of them.

    Args:
        banks: The segments, by model.
        newest: The start of the newest.
        history: The rows before.
        rows: The chunk.
        seed: Of the draws from priors.
    """
    reference, found = latest(history, REFERENCE_ROWS), np.arange(num_rows(rows))
    for bank in banks.values():
        positions = sample_prior(bank.model, POSITIONS_EACH, seed, PURPOSE)
        if history.num_rows:
            particles = bank.particles(newest)[0]
            chosen = np.linspace(0, len(particles) - 1, POSITIONS_EACH).astype(int)
            positions = np.concatenate([positions, particles[chosen]])
        found = np.intersect1d(found, outliers(bank.model, positions, rows, reference).rows)
    return found if len(found) < num_rows(rows) else found[:0]
