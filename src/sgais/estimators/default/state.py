"""The state of the default between chunks, and what is read from it."""

from typing import NamedTuple

import numpy as np

from sgais.compute.prior_draws import sample_prior
from sgais.estimators import full_data_hmc
from sgais.estimators.default import policy
from sgais.estimators.default.config import Config
from sgais.estimators.default.context import UpdateContext
from sgais.estimators.default.phases import quadratic_phase
from sgais.estimators.default.phases.exact_phase import ExactPhase
from sgais.estimators.default.phases.gradient_phase import GradientPhase
from sgais.estimators.default.phases.quadratic_phase import QuadraticPhase
from sgais.models.base import Model
from sgais.smc.islands import Islands, resample
from sgais.smc.weights import Estimate


class State(NamedTuple):
    """Everything that the next chunk needs to know of the past, but for the rows themselves."""

    islands: Islands
    exact: ExactPhase
    quadratic: QuadraticPhase | None
    num_rows: int
    num_chunks: int  # with the seed, it determines every random number of the next chunk
    next_attempt: int  # rows at which surrogates are tried next
    kernel_bias: float
    warning: str
    changed_at: int = 0  # rows at which the data have changed; 0 if nothing speaks for that, or no longer
    replay_at: int = 0  # rows at which all are to be replayed; 0 if there is no need
    gradient: GradientPhase | None = None
    outright_at: int = 0  # rows at which log Z was last taken outright
    path_length: int = 0  # weighings of all particles that log Z rests on
    bank: np.ndarray | None = None  # modes that are known, shape (modes, d)
    searched_at: int = 0  # rows at which modes were last searched for
    doubt: str = ""  # what that search says of modes that it may have missed
    mode_doubt: float = 0.0  # the same in nats
    disagreement: str = ""  # of the last outright estimate with the path
    change_warning: str = ""  # that the data have changed, until log Z no longer suffers for it
    lasting_warning: str = ""  # the part of the warning that no later estimate takes back

    @property
    def estimate(self) -> Estimate:
        """Log Z of all rows so far; its error from the spread of the islands, and for what all of them may share."""
        found = weighted_now(self).estimate
        shared = policy.ERROR_PER_STEP * max(self.path_length - 1, 0)
        unweighed = 0.0 if self.quadratic is None else quadratic_phase.unweighed_error(self.quadratic, self.num_rows)
        error = float(np.sqrt(found.standard_error**2 + shared**2 + unweighed**2))
        return found._replace(standard_error=error)


def init(model: Model, config: Config, seed: int) -> State:
    """Particles from the prior, weights of one."""
    per_island = config.particles_per_island(0)
    drawn = sample_prior(model, config.num_islands * per_island, seed, 0).astype(np.float64)
    islands = Islands.of(drawn.reshape(config.num_islands, per_island, -1))
    exact = ExactPhase(np.asarray(full_data_hmc.prior_precision(model, seed)))
    return State(islands, exact, None, 0, 0, policy.FIRST_ATTEMPT, 0.0, "")


def weighted_now(state: State) -> Islands:
    """The particles with the weights that all rows so far give them, as far as the surrogates know."""
    if state.quadratic is None:
        return state.islands
    growths = quadratic_phase.log_growths(state.quadratic)
    assert growths is not None, "a surrogate without maximum is never kept"
    return state.islands.reweighted(growths)


def positions_now(state: State) -> np.ndarray:
    """The particles' positions, shape (particles, d)."""
    if state.quadratic is None:
        return state.islands.all_positions
    return quadratic_phase.positions_now(state.quadratic, state.islands)


def log_weights_now(state: State) -> np.ndarray:
    """The particles' log weights, not normalised, over all islands."""
    return weighted_now(state).all_log_weights


def islands_now(state: State) -> tuple[np.ndarray, np.ndarray]:
    """Positions, shape (islands, particles, d), and log weights within each island, not normalised."""
    positions = positions_now(state).reshape(state.islands.positions.shape)
    return positions, weighted_now(state).log_weights


def past_the_change(state: State) -> State:
    """Log Z was taken outright since the data changed: it owes nothing to the way there."""
    return state._replace(replay_at=0, change_warning="")


def thinned(context: UpdateContext, islands: Islands, num_rows: int) -> tuple[Islands, np.ndarray]:
    """No more particles than this many rows need, and which of them these are."""
    num_kept = context.config.particles_per_island(num_rows)
    if islands.log_weights.shape[1] <= num_kept:
        return islands, np.arange(islands.log_weights.size)
    return resample(islands, context.keys.generator(), num_kept)
