"""The contract of an online estimator: pure functions on a state, and what an update tells of itself.

A module is an estimator where it has these names (`default/estimator.py`, `paper.py`). `registry.py` lists them, and
whatever stands there runs `tests/contracts/test_estimators.py`.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np

from sgais.fields import Chunk
from sgais.history import Past
from sgais.models.base import Model
from sgais.smc.weights import Estimate


class Info(NamedTuple):
    """What the update of one chunk tells about itself.

    Attributes:
        annealing_steps: Times that the particles were weighed for this chunk: 1 + intermediate distributions. 0 where
            the surrogates took it in and the particles wait for more.
        num_moves: Times that the particles were moved.
        final_ess: Effective sample size of the chunk's last weighing.
        weight_ess: Effective sample size of the weights carried to the next chunk. Without resampling it
            falls towards 1 as the stream continues.
        kinetic_temperature: Mean over the chunk's moves on mini-batches, NaN if there were none; 1 is right, more
            means excess kinetic temperature from the noise of the gradients.
        step_size: Of the moves on mini-batches; shortened where the temperature was too high or they diverged.
        num_modes: Modes that carry a surrogate; 0 while all rows are seen by all particles, and in paper mode.
        num_non_finite: Particles that left the finite numbers during this chunk's moves or weighing.
        correction: Nats by which log Z of the rows before this chunk was set right, where these were replayed in
            another order after a shift; 0 otherwise.
        mode_doubt: Nats by which modes that no search has found might change log Z, as independent searches suggest; 0
            where nothing suggests it.
    """

    annealing_steps: int
    num_moves: int
    final_ess: float
    weight_ess: float
    kinetic_temperature: float
    step_size: float
    num_modes: int
    num_non_finite: int
    correction: float = 0.0
    mode_doubt: float = 0.0


class EstimatorState(Protocol):
    """What is known of every state, whatever else it holds; it is saved as it is, so it is made of plain data."""

    @property
    def num_rows(self) -> int:
        """Rows taken in."""

    @property
    def num_chunks(self) -> int:
        """Chunks taken in: with the seed, it names every random number of the next one."""

    @property
    def estimate(self) -> Estimate:
        """Log Z of all rows so far, and its standard error (NaN where there is none)."""

    @property
    def kernel_bias(self) -> float:
        """The error of log Z from excess kinetic temperature of the moves, as estimated."""

    @property
    def warning(self) -> str:
        """Why log Z should not be trusted; empty if nothing is known against it."""


class Estimator(Protocol):
    """What `OnlineEvidence` asks of an estimator. `Any` stands for its own types of config and state.

    Attributes:
        SAVED_TYPES: All types that a checkpoint of its states has to name.
    """

    SAVED_TYPES: tuple[type, ...]

    def init(self, model: Model, config: Any, seed: int) -> Any:
        """The state before any data: particles from the prior, log Z = 0."""

    def update(self, model: Model, config: Any, seed: int, state: Any, chunk: Chunk, past: Past) -> tuple[Any, Info]:
        """Take in one chunk. Pure: `state` and `past` stay as they are, whatever happens."""

    def log_predictive(self, model: Model, state: Any, chunk: Chunk) -> float:
        """Log p(chunk | rows seen)."""

    def positions_now(self, state: Any) -> np.ndarray:
        """The particles as positions, shape (particles, d)."""

    def log_weights_now(self, state: Any) -> np.ndarray:
        """Their log weights, not normalised, shape (particles,)."""

    def islands_now(self, state: Any) -> tuple[np.ndarray, np.ndarray]:
        """Positions and log weights with a leading axis for islands."""
