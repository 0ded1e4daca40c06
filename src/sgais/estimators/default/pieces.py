"""A piece of a chunk, assimilated by the phase that the stream is in."""

import numpy as np

from sgais.estimators.default import policy
from sgais.estimators.default.context import UpdateContext
from sgais.estimators.default.data_change import has_changed
from sgais.estimators.default.handover import hand_over
from sgais.estimators.default.phases import (
    exact_phase,
    gradient_phase,
    quadratic_moves,
    quadratic_phase,
    quadratic_weighing,
)
from sgais.estimators.default.phases.gradient_phase import GradientPhase
from sgais.estimators.default.phases.quadratic_phase import QuadraticPhase
from sgais.estimators.default.renewal import quadratic_outright
from sgais.estimators.default.state import State, thinned
from sgais.history import RowSpan
from sgais.smc.effective_sample_size import ess_fraction
from sgais.smc.islands import Islands, have_diverged, migrate


def assimilate(context: UpdateContext, state: State, must_weigh_last: bool = False) -> State:
    """Piece by piece, until there are no more rows."""
    while state.num_rows < context.rows.num_rows:
        if state.quadratic is not None:
            last = context.rows.num_rows if must_weigh_last else None
            state = _quadratic_piece(context, state, state.quadratic, last)
        elif state.gradient is not None:
            state = _gradient_piece(context, state, state.gradient)
        else:
            state = _exact_piece(context, state)
            state = hand_over(context, state)
    return state


def _exact_piece(context: UpdateContext, state: State) -> State:
    """Assimilate at most as many rows as there are already."""
    first = max(policy.FIRST_PIECE, policy.FIRST_PER_PARAMETER * context.model.dimension)
    span = RowSpan(state.num_rows, min(context.rows.num_rows, max(first, 2 * state.num_rows)))
    state = _watch_for_change(context, state, span)
    steps_before = context.diagnostics.num_weighings
    exact, islands = exact_phase.assimilate(context, state.exact, state.islands, span)
    path_length = state.path_length + context.diagnostics.num_weighings - steps_before
    if have_diverged(islands):
        islands, _ = migrate(islands, context.keys.generator())
    islands, _ = thinned(context, islands, span.end)
    return state._replace(exact=exact, islands=islands, num_rows=span.end, path_length=path_length)


def _gradient_piece(context: UpdateContext, state: State, gradient: GradientPhase) -> State:
    """Assimilate rows by a gradient at an anchor; back to all rows for a while where its noise is too much."""
    span = RowSpan(
        state.num_rows, min(context.rows.num_rows, state.num_rows + state.num_rows // policy.GRADIENT_PIECES)
    )
    state = _watch_for_change(context, state, span)
    exact = state.exact

    def on_all_rows(islands: Islands, inverse_temperature: float) -> Islands:
        nonlocal exact
        exact, islands = exact_phase.move(context, exact, islands, span, inverse_temperature)
        return islands

    after, islands = gradient_phase.assimilate(context, gradient, state.islands, span, on_all_rows)
    next_attempt = state.next_attempt if after is not None else span.end + span.end // policy.GRADIENT_PIECES
    return state._replace(exact=exact, islands=islands, num_rows=span.end, gradient=after, next_attempt=next_attempt)


def _quadratic_piece(context: UpdateContext, state: State, quadratic: QuadraticPhase, last: int | None = None) -> State:
    """Add rows to the surrogates; weigh the particles where that is due, move them where the weights need it."""
    due = int(
        min(quadratic.next_weighing, quadratic.num_rows_then + context.rows.reach)
    )  # so that a weighing can be rolled back
    due = due if last is None else min(due, last)
    end = min(context.rows.num_rows, max(due, state.num_rows + 1))
    quadratic = quadratic_phase.add(context.model, quadratic, context.rows.between(state.num_rows, end))
    is_settled = end < context.rows.num_rows or not quadratic_phase.is_behind(quadratic, end)
    if end < due and is_settled and not quadratic_phase.has_strayed(quadratic):
        return state._replace(quadratic=quadratic, num_rows=end)
    weighed = quadratic_weighing.weigh(context, quadratic, state.islands, end)
    if weighed is None:
        return _roll_back(state, quadratic)
    state = _watch_for_change(context, state, RowSpan(quadratic.num_rows_then, end))
    quadratic, islands = weighed
    islands, kept = thinned(context, islands, end)
    quadratic = quadratic._replace(modes=quadratic.modes[kept])
    state = state._replace(num_rows=end, islands=islands, quadratic=quadratic)
    needs_move = ess_fraction(islands.log_weights) < context.config.target_ess_fraction or have_diverged(islands)
    has_doubled = end >= 2 * quadratic.num_rows_anchored
    is_curved = context.diagnostics.final_ess < policy.NEARLY_GAUSSIAN
    must_anchor = (has_doubled and is_curved) or quadratic_phase.has_strayed(quadratic)
    # Beside a move it costs little, and makes the move better.
    may_anchor = context.rows.is_whole or end <= policy.FEW_TO_SAMPLE
    if must_anchor or (needs_move and may_anchor):
        anchored = quadratic_phase.reanchor(context, quadratic)
        if anchored is None:
            return state._replace(quadratic=None, next_attempt=2 * end)
        quadratic = anchored
    if has_doubled and not context.rows.is_whole:  # memory is not to grow from here on
        quadratic_moves.warm_up(context, quadratic, islands)
    if needs_move:
        state = _move(context, state, quadratic)
        assert state.quadratic is not None
        quadratic = state.quadratic
    return quadratic_outright(context, state, quadratic)


def _roll_back(state: State, quadratic: QuadraticPhase) -> State:
    """The weights have collapsed: try again with fewer rows at a time, or, as a last resort, with all rows."""
    again = quadratic_phase.rolled_back(quadratic)
    next_attempt = state.next_attempt if again is not None else 2 * state.num_rows
    return state._replace(quadratic=again, num_rows=quadratic.num_rows_then, next_attempt=next_attempt)


def _move(context: UpdateContext, state: State, quadratic: QuadraticPhase) -> State:
    """Resample and move: on all rows while these are few or where mini-batches are too noisy."""
    quadratic, islands = quadratic_phase.survivors(quadratic, state.islands, context.keys.generator())
    if state.num_rows > policy.EXACT_ROWS:
        moved = quadratic_moves.move(context, quadratic, islands)
        if moved is not None:
            return state._replace(quadratic=moved[0], islands=moved[1])
    span = RowSpan(state.num_rows, state.num_rows)
    exact, islands = exact_phase.move(context, state.exact, islands, span, 1.0)
    return state._replace(exact=exact, quadratic=quadratic._replace(temperature=1.0), islands=islands)


def _watch_for_change(context: UpdateContext, state: State, span: RowSpan) -> State:
    """Warn where rows are unlike those before them, and note where that began."""
    best = state.islands.all_positions[np.argmax(state.islands.all_log_weights)]
    is_known = span.start < policy.SAME_CHANGE * state.changed_at
    if is_known or not has_changed(context.model, best, context.rows, span, context.keys):
        return state
    cure = f"until all are replayed, after {2 * span.end}" if context.rows.is_whole else "since not all were kept"
    text = f"the data changed between rows {span.start} and {span.end}: log Z may be too low {cure}"
    # Log Z is taken outright, and modes are searched for, at the next occasion.
    state = state._replace(outright_at=0, searched_at=0)
    return state._replace(changed_at=span.end, replay_at=2 * span.end, change_warning=text)
