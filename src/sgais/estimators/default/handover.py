"""From the exact phase, whose moves see all rows, to one whose cost does not depend on how many there are."""

from sgais.estimators.default import mode_bank, policy
from sgais.estimators.default.context import UpdateContext
from sgais.estimators.default.phases import gradient_phase, quadratic_phase
from sgais.estimators.default.renewal import enough_draws, explored, lacks, redrawn, refreshed
from sgais.estimators.default.state import State
from sgais.smc.islands import resample


def hand_over(context: UpdateContext, state: State) -> State:
    """Try to continue without all rows: each time the data have doubled."""
    if state.num_rows < state.next_attempt or not context.rows.is_whole:
        return state
    if context.model.dimension > context.config.largest_dimension:
        return _hand_over_to_gradient(context, state)
    state = state._replace(next_attempt=2 * state.num_rows)
    state, posterior, found = explored(context, state)
    anchors = mode_bank.worth_a_surrogate(posterior, found)
    quadratic = quadratic_phase.start(context, anchors, state.num_rows)
    if quadratic is None:
        return state
    sampled = quadratic_phase.sampled(context, quadratic, enough_draws(context.config, state.num_rows))
    if sampled is not None and not lacks(sampled.estimate, state.estimate):
        return redrawn(context, state, quadratic, sampled)
    state = refreshed(context, state, posterior, found)
    joined = quadratic_phase.joined(context, quadratic, state.islands)
    return state if joined is None else state._replace(quadratic=joined[0], islands=joined[1])


def _hand_over_to_gradient(context: UpdateContext, state: State) -> State:
    """Try to continue with a gradient at an anchor: where a move shows that its noise is not too much."""
    if state.num_rows < policy.EXACT_ROWS:
        return state
    later = state._replace(next_attempt=2 * state.num_rows)
    islands, _ = resample(state.islands, context.keys.generator(), context.config.particles_per_island(state.num_rows))
    started = gradient_phase.start(context, state.exact.precision, islands, state.num_rows)
    return later if started is None else later._replace(gradient=started[0], islands=started[1])
