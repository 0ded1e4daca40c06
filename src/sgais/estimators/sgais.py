"""SGAIS, accurate to the nat: the default estimator.

A chunk is cut into pieces, and each piece is taken in by the phase that the stream is in: early, while all rows can be
seen by all particles, or late, when quadratic surrogates carry the past, or wide, when the parameters are too many for
these and a gradient carries it. docs/accuracy.md says which error each part removes. `paper.py` is the algorithm as
published.
"""

from typing import NamedTuple

import numpy as np

from sgais import annealing
from sgais.blocks import slabs
from sgais.estimators import early as early_phase
from sgais.estimators import full_data
from sgais.estimators import islands as archipelago
from sgais.estimators import late as late_phase
from sgais.estimators import wide as wide_phase
from sgais.estimators.account import Account
from sgais.estimators.anchoring import Search, anchor
from sgais.estimators.change import has_changed
from sgais.estimators.config import Config
from sgais.estimators.early import Early
from sgais.estimators.islands import Islands
from sgais.estimators.late import Late
from sgais.estimators.particles import Places, sample_prior
from sgais.estimators.record import Estimate, Info
from sgais.estimators.weights import without_failures
from sgais.estimators.wide import Wide
from sgais.fields import Chunk
from sgais.history import Past, Shuffled, WithChunk
from sgais.likelihood import log_likelihoods
from sgais.model import Model

FIRST_PIECE = 16  # rows; from there on pieces double the data
FIRST_ATTEMPT = 512  # rows at which surrogates are first tried
EXACT_ROWS = 4096  # up to which moves see all rows, which costs no more than mini-batches
WIDE_PIECES = 4  # into which a doubling of the rows is cut where a gradient carries the past: few steps, short passes
FEW_TO_SAMPLE = 65536  # rows up to which a sample of them, where not all are kept, tells enough for new anchors
LARGEST_REMAINDER = 6.0  # spread of the log posterior beyond second order, above which surrogates are of no use yet
NEARLY_GAUSSIAN = 0.99  # ESS fraction of a weighing, above which old anchors will do
HIDDEN_MODE = 5.0  # nats by which Laplace's evidence may exceed that of the particles
SAME_CHANGE = 1.25  # rows over those at a change, up to which another one is taken for the same
FORGOTTEN = 16  # rows over those at a change, from which on it no longer matters
FAR_HIDDEN_MODE = 20.0  # the same where the particles are not near the modes, and Laplace says less of them


class State(NamedTuple):
    """Everything that the next chunk needs to know of the past, but for the rows themselves."""

    islands: Islands
    early: Early
    late: Late | None
    num_rows: int
    num_chunks: int  # with the seed, it determines every random number of the next chunk
    next_attempt: int  # rows at which surrogates are tried next
    kernel_bias: float
    warning: str
    changed_at: int = 0  # rows at which the data have changed; 0 if nothing speaks for that, or no longer
    replay_at: int = 0  # rows at which all are to be replayed; 0 if there is no need
    wide: Wide | None = None

    @property
    def estimate(self) -> Estimate:
        """Log Z of all rows so far, and its error from the spread of the islands."""
        return archipelago.estimate(weighted_now(self))


def init(model: Model, config: Config, seed: int) -> State:
    """Particles from the prior, weights of one."""
    per_island = config.particles_per_island(0)
    drawn = sample_prior(model, config.num_islands * per_island, seed, 0).astype(np.float64)
    islands = Islands(
        drawn.reshape(config.num_islands, per_island, -1),
        np.zeros((config.num_islands, per_island)),
        np.zeros(config.num_islands),
    )
    early = Early(np.asarray(full_data.prior_precision(model, seed)))
    return State(islands, early, None, 0, 0, FIRST_ATTEMPT, 0.0, "")


def update(model: Model, config: Config, seed: int, state: State, chunk: Chunk, past: Past) -> tuple[State, Info]:
    """Take in one chunk. Pure: `state` and `past` stay as they are, whatever happens."""
    places, account, correction = Places(seed, state.num_chunks + 1), Account(), 0.0
    if 0 < state.replay_at <= state.num_rows and past.reach == past.num_rows:
        before = state.estimate.log_evidence
        state = _replayed(model, config, seed, state, chunk, past, places, account)
        correction = state.estimate.log_evidence - before
    state = _take_in(model, config, state, WithChunk(past, chunk), places, account)
    warning = "; ".join(account.warnings) or state.warning
    kernel_bias = state.kernel_bias + account.kernel_bias
    state = state._replace(num_chunks=state.num_chunks + 1, kernel_bias=kernel_bias, warning=warning)
    return state, _info(config, state, account)._replace(correction=correction)


def weighted_now(state: State) -> Islands:
    """The particles with the weights that all rows so far give them, as far as the surrogates know."""
    if state.late is None:
        return state.islands
    growths = late_phase.log_growths(state.late)
    assert growths is not None, "a surrogate without maximum is never kept"
    return state.islands.times(growths)


def positions_now(state: State) -> np.ndarray:
    """The particles' positions, shape (particles, d)."""
    if state.late is None:
        return state.islands.all_positions
    return late_phase.positions_now(state.late, state.islands)


def log_weights_now(state: State) -> np.ndarray:
    """The particles' log weights, not normalised, over all islands."""
    return weighted_now(state).all_log_weights


def islands_now(state: State) -> tuple[np.ndarray, np.ndarray]:
    """Positions, shape (islands, particles, d), and log weights within each island, not normalised."""
    positions = positions_now(state).reshape(state.islands.positions.shape)
    return positions, weighted_now(state).log_weights


def log_predictive(model: Model, state: State, chunk: Chunk) -> float:
    """Log p(chunk | rows seen): the mean of the chunk's likelihood over the weighted particles."""
    found = log_likelihoods(model, positions_now(state), slabs(chunk))
    log_weights = log_weights_now(state)
    return annealing.log_mean_exp(log_weights + without_failures(found)[0]) - annealing.log_mean_exp(log_weights)


def _info(config: Config, state: State, account: Account) -> Info:
    log_weights = state.islands.log_weights
    late, wide = state.late, state.wide
    anchored = late or wide
    return Info(
        annealing_steps=account.num_weighings,
        num_moves=account.num_moves,
        final_ess=account.final_ess * log_weights.size,
        weight_ess=archipelago.ess_fraction(log_weights) * log_weights.size,
        kinetic_temperature=account.kinetic_temperature,
        step_size=config.kernel.step_size if anchored is None else anchored.step_size,
        num_modes=int(wide is not None) if late is None else len(np.unique(late.modes)),
        num_non_finite=account.num_non_finite,
    )


def _take_in(
    model: Model,
    config: Config,
    state: State,
    rows: WithChunk,
    places: Places,
    account: Account,
    must_weigh_last: bool = False,
) -> State:
    """Piece by piece, until there are no more rows."""
    while state.num_rows < rows.num_rows:
        if state.late is not None:
            last = rows.num_rows if must_weigh_last else None
            state = _late_piece(model, config, state, state.late, rows, places, account, last)
        elif state.wide is not None:
            state = _wide_piece(model, config, state, state.wide, rows, places, account)
        else:
            state = _early_piece(model, config, state, rows, places, account)
            state = _hand_over(model, config, state, rows, places, account)
    return state


def _replayed(
    model: Model,
    config: Config,
    seed: int,
    state: State,
    chunk: Chunk,
    past: Past,
    places: Places,
    account: Account,
) -> State:
    """As if all rows so far had come in random order: few particles live through a shift, and log Z suffers for it.

    What it counts is not put to the chunk's account, for it says nothing of the chunk. The particles stand for all
    rows in the end, whose order does not matter then. It is repeated each time that the rows have doubled, until those
    of before the change are few among them: what is best for a mean of both kinds is not yet best for the new one.
    """
    shuffled = Shuffled(past, places.generator().permutation(past.num_rows))
    nothing = {name: values[:0] for name, values in chunk.items()}
    own = Account()
    fresh = _take_in(model, config, init(model, config, seed), WithChunk(shuffled, nothing), places, own, True)
    account.warnings += own.warnings
    fresh = fresh._replace(num_chunks=state.num_chunks, kernel_bias=own.kernel_bias)
    if state.num_rows >= FORGOTTEN * state.changed_at:
        return fresh
    again = 2 * state.num_rows
    account.warn(
        f"the data changed at row {state.changed_at}: log Z may be too low until all are replayed, after {again}"
    )
    return fresh._replace(changed_at=state.changed_at, replay_at=again)


def _early_piece(
    model: Model, config: Config, state: State, rows: WithChunk, places: Places, account: Account
) -> State:
    """Take in at most as many rows as there are already."""
    ends = state.num_rows, min(rows.num_rows, max(FIRST_PIECE, 2 * state.num_rows))
    state = _watch_for_change(model, state, rows, ends, places, account)
    early, islands = early_phase.take(
        model, config.early_kernel, config.target_ess_fraction, state.early, state.islands, rows, ends, places, account
    )
    if archipelago.have_parted(islands):
        islands, _ = archipelago.migrate(islands, places.generator())
    islands, _ = _thinned(config, islands, ends[1], places)
    return state._replace(early=early, islands=islands, num_rows=ends[1])


def _watch_for_change(
    model: Model, state: State, rows: WithChunk, ends: tuple[int, int], places: Places, account: Account
) -> State:
    """Warn where rows are unlike those before them, and note where that began."""
    best = state.islands.all_positions[np.argmax(state.islands.all_log_weights)]
    is_known = ends[0] < SAME_CHANGE * state.changed_at
    if is_known or not has_changed(model, best, rows, ends, places):
        return state
    cure = f"until all are replayed, after {2 * ends[1]}" if rows.is_whole else "since not all were kept"
    account.warn(f"the data changed between rows {ends[0]} and {ends[1]}: log Z may be too low {cure}")
    return state._replace(changed_at=ends[1], replay_at=2 * ends[1])


def _thinned(config: Config, islands: Islands, rows: int, places: Places) -> tuple[Islands, np.ndarray]:
    """No more particles than this many rows need, and which of them these are."""
    num_kept = config.particles_per_island(rows)
    if islands.log_weights.shape[1] <= num_kept:
        return islands, np.arange(islands.log_weights.size)
    return archipelago.resample(islands, places.generator(), num_kept)


def _hand_over(model: Model, config: Config, state: State, rows: WithChunk, places: Places, account: Account) -> State:
    """Try to go on without all rows: each time the data have doubled."""
    if state.num_rows < state.next_attempt or not rows.is_whole:
        return state
    if model.dimension > config.largest_dimension:
        return _hand_over_wide(model, config, state, rows, places, account)
    later = state._replace(next_attempt=2 * state.num_rows)
    islands = state.islands
    search = anchor(model, islands.all_positions, rows.between(0, state.num_rows), places.seed)
    _warn_of_hidden_modes(state, search, account)
    anchored = search.anchored
    if anchored is None:
        return later
    islands = islands.at(anchored.positions)
    late = late_phase.start(model, config.kernel, config.batch_size, anchored, rows, state.num_rows)
    if late is None:
        return later
    remainders = late_phase.log_remainders(model, late, islands, rows, places)
    low, high = np.quantile(remainders, [0.16, 0.84])
    if not high - low < 2 * LARGEST_REMAINDER:
        return later
    return later._replace(islands=islands, late=late)


def _warn_of_hidden_modes(state: State, search: Search, account: Account) -> None:
    """Ascents may run into a peak that has more evidence than all that the particles know."""
    so_far = state.estimate
    hidden = search.log_evidence - so_far.log_evidence
    doubt = HIDDEN_MODE if search.anchored is not None else FAR_HIDDEN_MODE
    if hidden > doubt + 3 * so_far.standard_error:
        account.warn(
            f"after {state.num_rows} rows a mode was found that has e^{hidden:.0f} times the evidence of what the "
            "particles have explored: log Z is probably too low"
        )


def _hand_over_wide(
    model: Model, config: Config, state: State, rows: WithChunk, places: Places, account: Account
) -> State:
    """Try to go on with a gradient at an anchor: where a move shows that its noise is not too much."""
    if state.num_rows < EXACT_ROWS:
        return state
    later = state._replace(next_attempt=2 * state.num_rows)
    islands, _ = archipelago.resample(state.islands, places.generator(), config.particles_per_island(state.num_rows))
    started = wide_phase.start(
        model, config.kernel, config.batch_size, state.early.precision, islands, rows, state.num_rows, places, account
    )
    return later if started is None else later._replace(wide=started[0], islands=started[1])


def _wide_piece(
    model: Model, config: Config, state: State, wide: Wide, rows: WithChunk, places: Places, account: Account
) -> State:
    """Take in rows by a gradient at an anchor; back to all rows for a while where its noise is too much."""
    ends = state.num_rows, min(rows.num_rows, state.num_rows + state.num_rows // WIDE_PIECES)
    state = _watch_for_change(model, state, rows, ends, places, account)
    early = state.early

    def on_all_rows(islands: Islands, inverse_temperature: float) -> Islands:
        nonlocal early
        early, islands = early_phase.move(
            model, config.early_kernel, early, islands, rows, ends, inverse_temperature, places, account
        )
        return islands

    after, islands = wide_phase.take(
        model, config.kernel, config.target_ess_fraction, wide, state.islands, rows, ends, on_all_rows, places, account
    )
    next_attempt = state.next_attempt if after is not None else ends[1] + ends[1] // WIDE_PIECES
    return state._replace(early=early, islands=islands, num_rows=ends[1], wide=after, next_attempt=next_attempt)


def _late_piece(
    model: Model,
    config: Config,
    state: State,
    late: Late,
    rows: WithChunk,
    places: Places,
    account: Account,
    last: int | None = None,
) -> State:
    """Add rows to the surrogates; weigh the particles where that is due, move them where the weights need it."""
    due = int(min(late.next_weighing, late.num_rows_then + rows.reach))  # so that a weighing can be taken back
    due = due if last is None else min(due, last)
    end = min(rows.num_rows, max(due, state.num_rows + 1))
    late = late_phase.add(model, late, rows.between(state.num_rows, end))
    if end < due and not late_phase.has_strayed(late):
        return state._replace(late=late, num_rows=end)
    weighed = late_phase.weigh(model, late, state.islands, rows, end, places, account)
    if weighed is None:
        return _take_back(state, late)
    state = _watch_for_change(model, state, rows, (late.num_rows_then, end), places, account)
    late, islands = weighed
    islands, kept = _thinned(config, islands, end, places)
    late = late._replace(modes=late.modes[kept])
    state = state._replace(num_rows=end, islands=islands, late=late)
    needs_move = archipelago.ess_fraction(islands.log_weights) < config.target_ess_fraction
    needs_move = needs_move or archipelago.have_parted(islands)
    has_doubled = end >= 2 * late.num_rows_anchored
    must_anchor = (has_doubled and account.final_ess < NEARLY_GAUSSIAN) or late_phase.has_strayed(late)
    may_anchor = rows.is_whole or end <= FEW_TO_SAMPLE  # which costs little beside a move, and makes it better
    if must_anchor or (needs_move and may_anchor):
        anchored = late_phase.reanchor(model, late, rows, places)
        if anchored is None:
            return state._replace(late=None, next_attempt=2 * end)
        late = anchored
    if has_doubled and not rows.is_whole:  # memory is not to grow from here on
        late_phase.rehearse(model, config.kernel, late, islands, rows, places)
    return _move(model, config, state, late, rows, places, account) if needs_move else state._replace(late=late)


def _take_back(state: State, late: Late) -> State:
    """The weights have collapsed: try again with fewer rows at a time, or, as a last resort, with all rows."""
    again = late_phase.taken_back(late)
    next_attempt = state.next_attempt if again is not None else 2 * state.num_rows
    return state._replace(late=again, num_rows=late.num_rows_then, next_attempt=next_attempt)


def _move(
    model: Model, config: Config, state: State, late: Late, rows: WithChunk, places: Places, account: Account
) -> State:
    """Resample and move: on all rows while these are few or where mini-batches are too noisy."""
    late, islands = late_phase.survivors(late, state.islands, places.generator())
    if state.num_rows > EXACT_ROWS:
        moved = late_phase.move(model, config.kernel, late, islands, rows, places, account)
        if moved is not None:
            return state._replace(late=moved[0], islands=moved[1])
    ends = state.num_rows, state.num_rows
    early, islands = early_phase.move(
        model, config.early_kernel, state.early, islands, rows, ends, 1.0, places, account
    )
    return state._replace(early=early, late=late._replace(temperature=1.0), islands=islands)
