"""What every estimator tells of an update."""

from typing import NamedTuple


class Info(NamedTuple):
    """What the update of one chunk tells about itself.

    Attributes:
        annealing_steps: Times that the particles were weighed for this chunk: 1 + intermediate distributions. 0 where
            the surrogates took it in and the particles wait for more.
        num_moves: Times that the particles were moved.
        final_ess: Effective sample size of the chunk's last weighing.
        weight_ess: Effective sample size of the weights carried to the next chunk. Without resampling it
            falls towards 1 as the stream goes on.
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
