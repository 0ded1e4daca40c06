"""The replay of all rows in random order after the data have changed."""

from sgais.estimators.default import policy
from sgais.estimators.default.context import UpdateContext
from sgais.estimators.default.diagnostics import UpdateDiagnostics
from sgais.estimators.default.pieces import assimilate
from sgais.estimators.default.state import State, init
from sgais.history import Past, RowView, Shuffled


def replayed(context: UpdateContext, state: State, past: Past) -> State:
    """As if all rows so far had come in random order: few particles live through a shift, and log Z suffers for it.

    What it counts is not put to the chunk's diagnostics, for it says nothing of the chunk. The particles stand for all
    rows in the end, whose order does not matter then. It is repeated each time that the rows have doubled, until those
    of before the change are few among them: what is best for a mean of both kinds is not yet best for the new one.
    """
    shuffled = Shuffled(past, context.keys.generator().permutation(past.num_rows))
    own = context._replace(rows=RowView(shuffled, past.between(0, 0)), diagnostics=UpdateDiagnostics())
    fresh = assimilate(own, init(context.model, context.config, context.keys.seed), must_weigh_last=True)
    context.diagnostics.warnings += own.diagnostics.warnings
    fresh = fresh._replace(num_chunks=state.num_chunks, kernel_bias=own.diagnostics.kernel_bias)
    if state.num_rows >= policy.FORGOTTEN * state.changed_at:
        return fresh
    again = 2 * state.num_rows
    text = f"the data changed at row {state.changed_at}: log Z may be too low until all are replayed, after {again}"
    return fresh._replace(changed_at=state.changed_at, replay_at=again, change_warning=text)
