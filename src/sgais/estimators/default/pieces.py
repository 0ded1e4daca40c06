"""A piece of a chunk, taken in by the phase that the stream is in."""

import numpy as np

from sgais.estimators.default.config import EXACT_ROWS
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
from sgais.estimators.default.phases.gradient_phase import Wide
from sgais.estimators.default.phases.quadratic_phase import Late
from sgais.estimators.default.renewal import FEW_TO_SAMPLE, late_outright
from sgais.estimators.default.state import State, thinned
from sgais.history import RowSpan
from sgais.smc import islands as archipelago
from sgais.smc.islands import Islands

FIRST_PIECE = 64  # rows, or
FIRST_PER_PARAMETER = 4  # rows for each parameter, if that is more; from there on pieces double the data
NEARLY_GAUSSIAN = 0.99  # ESS fraction of a weighing, above which old anchors will do
WIDE_PIECES = 4  # into which a doubling of the rows is cut where a gradient carries the past: few steps, short passes
SAME_CHANGE = 1.25  # rows over those at a change, up to which another one is taken for the same


def take_in(context: UpdateContext, state: State, must_weigh_last: bool = False) -> State:
    """Piece by piece, until there are no more rows."""
    while state.num_rows < context.rows.num_rows:
        if state.late is not None:
            last = context.rows.num_rows if must_weigh_last else None
            state = late_piece(context, state, state.late, last)
        elif state.wide is not None:
            state = wide_piece(context, state, state.wide)
        else:
            state = early_piece(context, state)
            state = hand_over(context, state)
    return state


def early_piece(context: UpdateContext, state: State) -> State:
    """Take in at most as many rows as there are already."""
    first = max(FIRST_PIECE, FIRST_PER_PARAMETER * context.model.dimension)
    span = RowSpan(state.num_rows, min(context.rows.num_rows, max(first, 2 * state.num_rows)))
    state = _watch_for_change(context, state, span)
    steps_before = context.account.num_weighings
    early, islands = exact_phase.take(context, state.early, state.islands, span)
    path_length = state.path_length + context.account.num_weighings - steps_before
    if archipelago.have_parted(islands):
        islands, _ = archipelago.migrate(islands, context.places.generator())
    islands, _ = thinned(context, islands, span.end)
    return state._replace(early=early, islands=islands, num_rows=span.end, path_length=path_length)


def wide_piece(context: UpdateContext, state: State, wide: Wide) -> State:
    """Take in rows by a gradient at an anchor; back to all rows for a while where its noise is too much."""
    span = RowSpan(state.num_rows, min(context.rows.num_rows, state.num_rows + state.num_rows // WIDE_PIECES))
    state = _watch_for_change(context, state, span)
    early = state.early

    def on_all_rows(islands: Islands, inverse_temperature: float) -> Islands:
        nonlocal early
        early, islands = exact_phase.move(context, early, islands, span, inverse_temperature)
        return islands

    after, islands = gradient_phase.take(context, wide, state.islands, span, on_all_rows)
    next_attempt = state.next_attempt if after is not None else span.end + span.end // WIDE_PIECES
    return state._replace(early=early, islands=islands, num_rows=span.end, wide=after, next_attempt=next_attempt)


def late_piece(context: UpdateContext, state: State, late: Late, last: int | None = None) -> State:
    """Add rows to the surrogates; weigh the particles where that is due, move them where the weights need it."""
    due = int(min(late.next_weighing, late.num_rows_then + context.rows.reach))  # so that a weighing can be taken back
    due = due if last is None else min(due, last)
    end = min(context.rows.num_rows, max(due, state.num_rows + 1))
    late = quadratic_phase.add(context.model, late, context.rows.between(state.num_rows, end))
    is_settled = end < context.rows.num_rows or not quadratic_phase.is_behind(late, end)
    if end < due and is_settled and not quadratic_phase.has_strayed(late):
        return state._replace(late=late, num_rows=end)
    weighed = quadratic_weighing.weigh(context, late, state.islands, end)
    if weighed is None:
        return _take_back(state, late)
    state = _watch_for_change(context, state, RowSpan(late.num_rows_then, end))
    late, islands = weighed
    islands, kept = thinned(context, islands, end)
    late = late._replace(modes=late.modes[kept])
    state = state._replace(num_rows=end, islands=islands, late=late)
    needs_move = archipelago.ess_fraction(islands.log_weights) < context.config.target_ess_fraction
    needs_move = needs_move or archipelago.have_parted(islands)
    has_doubled = end >= 2 * late.num_rows_anchored
    must_anchor = (has_doubled and context.account.final_ess < NEARLY_GAUSSIAN) or quadratic_phase.has_strayed(late)
    may_anchor = context.rows.is_whole or end <= FEW_TO_SAMPLE  # which costs little beside a move, and makes it better
    if must_anchor or (needs_move and may_anchor):
        anchored = quadratic_phase.reanchor(context, late)
        if anchored is None:
            return state._replace(late=None, next_attempt=2 * end)
        late = anchored
    if has_doubled and not context.rows.is_whole:  # memory is not to grow from here on
        quadratic_moves.rehearse(context, late, islands)
    if needs_move:
        state = _move(context, state, late)
        assert state.late is not None
        late = state.late
    return late_outright(context, state, late)


def _take_back(state: State, late: Late) -> State:
    """The weights have collapsed: try again with fewer rows at a time, or, as a last resort, with all rows."""
    again = quadratic_phase.taken_back(late)
    next_attempt = state.next_attempt if again is not None else 2 * state.num_rows
    return state._replace(late=again, num_rows=late.num_rows_then, next_attempt=next_attempt)


def _move(context: UpdateContext, state: State, late: Late) -> State:
    """Resample and move: on all rows while these are few or where mini-batches are too noisy."""
    late, islands = quadratic_phase.survivors(late, state.islands, context.places.generator())
    if state.num_rows > EXACT_ROWS:
        moved = quadratic_moves.move(context, late, islands)
        if moved is not None:
            return state._replace(late=moved[0], islands=moved[1])
    span = RowSpan(state.num_rows, state.num_rows)
    early, islands = exact_phase.move(context, state.early, islands, span, 1.0)
    return state._replace(early=early, late=late._replace(temperature=1.0), islands=islands)


def _watch_for_change(context: UpdateContext, state: State, span: RowSpan) -> State:
    """Warn where rows are unlike those before them, and note where that began."""
    best = state.islands.all_positions[np.argmax(state.islands.all_log_weights)]
    is_known = span.start < SAME_CHANGE * state.changed_at
    if is_known or not has_changed(context.model, best, context.rows, span, context.places):
        return state
    cure = f"until all are replayed, after {2 * span.end}" if context.rows.is_whole else "since not all were kept"
    text = f"the data changed between rows {span.start} and {span.end}: log Z may be too low {cure}"
    # Log Z is taken outright, and modes are searched for, at the next occasion.
    state = state._replace(outright_at=0, searched_at=0)
    return state._replace(changed_at=span.end, replay_at=2 * span.end, change_warning=text)
