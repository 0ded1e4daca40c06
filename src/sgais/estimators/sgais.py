"""SGAIS with error bars that hold: the default estimator.

A chunk is cut into pieces, and each piece is taken in by the phase that the stream is in: early, while all rows can be
seen by all particles, or late, when quadratic surrogates carry the past, or wide, when the parameters are too many for
these and a gradient carries it. docs/accuracy.md says which error each part removes. `paper.py` is the algorithm as
published.
"""

from typing import NamedTuple

import numpy as np

from sgais import annealing
from sgais.blocks import slabs
from sgais.estimators import bank, full_data, outright
from sgais.estimators import early as early_phase
from sgais.estimators import islands as archipelago
from sgais.estimators import late as late_phase
from sgais.estimators import wide as wide_phase
from sgais.estimators.account import Account
from sgais.estimators.change import has_changed
from sgais.estimators.config import FEW_ROWS, Config
from sgais.estimators.early import Early
from sgais.estimators.found import Found
from sgais.estimators.importance import Sampled
from sgais.estimators.islands import Islands
from sgais.estimators.late import Late
from sgais.estimators.outright import Outright
from sgais.estimators.particles import Places, sample_prior
from sgais.estimators.posterior import Posterior
from sgais.estimators.record import Estimate, Info
from sgais.estimators.weights import without_failures
from sgais.estimators.wide import Wide
from sgais.fields import Chunk
from sgais.history import Past, Shuffled, WithChunk
from sgais.likelihood import log_likelihoods, slabs_for_derivatives
from sgais.model import Model

FIRST_PIECE = 64  # rows, or
FIRST_PER_PARAMETER = 4  # rows for each parameter, if that is more; from there on pieces double the data
OUTRIGHT_GROWTH = 1.3  # of the rows, from one outright estimate to the next
LARGE_ERROR = 0.05  # nats, of a curve that had better be taken outright soon
SMALL_ERROR, FAIR_ERROR = 0.01, 0.03  # nats, above which particles' weights are not relied on, where draws are good
FEW_TO_SEE = 16384  # rows up to which draws see all of them: the first, and then the second
SEARCH_GROWTH = 4  # of the rows, from one search for modes to the next, once there are surrogates
ERROR_PER_STEP = 0.012  # nats that a move which does not quite mix may cost, on all islands alike
GOOD_ERROR = 0.1  # nats, of importance sampling that is better than any path
SHORTER = 2  # times, by which the way of an outright estimate is to be shorter than the path
LARGER_ERROR = 2.0  # times the path's, up to which an outright estimate with a shorter way is better
LARGEST_GAP = 0.5  # nats between the two, beyond their errors, that are not worth a warning
LARGEST_LACK = 0.2  # nats by which an outright estimate may be lower than the path's, beyond their errors
DRAWS_PER_PARTICLE = 4  # where particles are drawn anew: draws that mirror each other are no two particles
LARGEST_IMBALANCE = 0.2  # of the modes' shares, between particles and draws, before particles are drawn anew
FIRST_ATTEMPT = 512  # rows at which surrogates are first tried
EXACT_ROWS = 4096  # up to which moves see all rows, which costs no more than mini-batches
WIDE_PIECES = 4  # into which a doubling of the rows is cut where a gradient carries the past: few steps, short passes
FEW_TO_SAMPLE = 65536  # rows up to which a sample of them, where not all are kept, tells enough for new anchors
NEARLY_GAUSSIAN = 0.99  # ESS fraction of a weighing, above which old anchors will do
HIDDEN_MODE = 5.0  # nats by which log Z may exceed Laplace's evidence of all modes that are known
PARTICLES_PER_MODE = 8  # at least, where modes are as good as each other
SAME_CHANGE = 1.25  # rows over those at a change, up to which another one is taken for the same
FORGOTTEN = 16  # rows over those at a change, from which on it no longer matters


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
        found = archipelago.estimate(weighted_now(self))
        shared = ERROR_PER_STEP * max(self.path_length - 1, 0)
        unweighed = 0.0 if self.late is None else late_phase.unweighed_error(self.late, self.num_rows)
        error = float(np.sqrt(found.standard_error**2 + shared**2 + unweighed**2))
        return found._replace(standard_error=error)


def init(model: Model, config: Config, seed: int) -> State:
    """Particles from the prior, weights of one."""
    per_island = config.particles_per_island(0)
    drawn = sample_prior(model, config.num_islands * per_island, seed, 0).astype(np.float64)
    islands = Islands.of(drawn.reshape(config.num_islands, per_island, -1))
    early = Early(np.asarray(full_data.prior_precision(model, seed)))
    return State(islands, early, None, 0, 0, FIRST_ATTEMPT, 0.0, "")


def update(model: Model, config: Config, seed: int, state: State, chunk: Chunk, past: Past) -> tuple[State, Info]:
    """Take in one chunk. Pure: `state` and `past` stay as they are, whatever happens."""
    places, account, correction = Places(seed, state.num_chunks + 1), Account(), 0.0
    if 0 < state.replay_at <= state.num_rows and past.reach == past.num_rows:
        before = state.estimate.log_evidence
        state = _replayed(model, config, seed, state, chunk, past, places, account)
        correction = state.estimate.log_evidence - before
    rows = WithChunk(past, chunk)
    state = _take_in(model, config, state, rows, places, account)
    state = _taken_outright(model, config, state, rows, places)
    lasting = "; ".join(account.warnings) or state.lasting_warning
    state = state._replace(
        num_chunks=state.num_chunks + 1,
        kernel_bias=state.kernel_bias + account.kernel_bias,
        warning="; ".join(text for text in (lasting, state.change_warning, state.doubt, state.disagreement) if text),
        lasting_warning=lasting,
    )
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
        mode_doubt=state.mode_doubt,
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


def _explored(
    model: Model, config: Config, state: State, rows: WithChunk, places: Places
) -> tuple[State, Posterior, Found]:
    """The posterior of all rows so far and its modes, which are searched for anew when the rows have doubled."""
    posterior = bank.posterior_of(model, rows.between(0, state.num_rows), places.generator())
    is_due = state.num_rows >= 2 * state.searched_at
    known = np.zeros((0, model.dimension)) if state.bank is None else state.bank
    found = bank.look_for_modes(posterior, state.islands.all_positions, known, places.seed, is_due)
    state = state._replace(bank=bank.positions_of(model, found))
    if is_due:
        state = _doubting(state, found, config.num_islands * config.particles_per_island(max(state.num_rows, FEW_ROWS)))
    return state, posterior, found


def _doubting(state: State, found: Found, num_particles: int) -> State:
    """What a search says of modes that may be missing, as far as they matter: where modes hold the evidence."""
    state = state._replace(searched_at=state.num_rows, doubt="", mode_doubt=0.0)
    if found.log_evidence < state.estimate.log_evidence - HIDDEN_MODE:
        return state
    count = len(found.carriers)
    if PARTICLES_PER_MODE * count > num_particles:
        doubt = f"the evidence is spread over {count} modes or more, too many for {num_particles} particles"
    elif found.doubt is not None and state.num_rows >= FIRST_ATTEMPT:
        doubt = found.doubt  # while rows are fewer, the way from the prior leads to all modes
    else:
        return state
    return state._replace(doubt=f"after {state.num_rows} rows {doubt}", mode_doubt=found.doubt_in_nats)


def _taken_outright(model: Model, config: Config, state: State, rows: WithChunk, places: Places) -> State:
    """Log Z of all rows, free of what the path has accumulated, and fresh particles."""
    is_early = state.late is None and state.wide is None and model.dimension <= config.largest_dimension
    growth = OUTRIGHT_GROWTH if state.num_rows < FEW_TO_SAMPLE else 2.0
    if not is_early or not rows.is_whole or state.num_rows < growth * state.outright_at:
        return state
    state, posterior, found = _explored(model, config, state, rows, places)
    return _refreshed(config, state, posterior, found, rows, places)


def _refreshed(
    config: Config, state: State, posterior: Posterior, found: Found, rows: WithChunk, places: Places
) -> State:
    """Particles that were annealed from a reference to the posterior, and their evidence, where these are better."""
    islands, _ = _thinned(config, state.islands, max(state.num_rows, FEW_ROWS), places)
    of_all = early_phase.tempered(rows, (0, state.num_rows), 1.0)
    fresh = outright.take(posterior, config.early_kernel, state.early, islands, found, of_all, places)
    state = state._replace(outright_at=state.num_rows, disagreement="")
    if fresh is None:
        return state
    state = state._replace(disagreement=_disagreement(fresh, state))
    if not _is_better(fresh, state):
        return state
    return _past_the_change(state)._replace(
        islands=archipelago.booked(fresh.islands, places.generator()), path_length=fresh.num_steps
    )


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
    text = f"the data changed at row {state.changed_at}: log Z may be too low until all are replayed, after {again}"
    return fresh._replace(changed_at=state.changed_at, replay_at=again, change_warning=text)


def _early_piece(
    model: Model, config: Config, state: State, rows: WithChunk, places: Places, account: Account
) -> State:
    """Take in at most as many rows as there are already."""
    first = max(FIRST_PIECE, FIRST_PER_PARAMETER * model.dimension)
    ends = state.num_rows, min(rows.num_rows, max(first, 2 * state.num_rows))
    state = _watch_for_change(model, state, rows, ends, places)
    steps_before = account.num_weighings
    early, islands = early_phase.take(
        model, config.early_kernel, config.target_ess_fraction, state.early, state.islands, rows, ends, places, account
    )
    path_length = state.path_length + account.num_weighings - steps_before
    if archipelago.have_parted(islands):
        islands, _ = archipelago.migrate(islands, places.generator())
    islands, _ = _thinned(config, islands, ends[1], places)
    return state._replace(early=early, islands=islands, num_rows=ends[1], path_length=path_length)


def _watch_for_change(model: Model, state: State, rows: WithChunk, ends: tuple[int, int], places: Places) -> State:
    """Warn where rows are unlike those before them, and note where that began."""
    best = state.islands.all_positions[np.argmax(state.islands.all_log_weights)]
    is_known = ends[0] < SAME_CHANGE * state.changed_at
    if is_known or not has_changed(model, best, rows, ends, places):
        return state
    cure = f"until all are replayed, after {2 * ends[1]}" if rows.is_whole else "since not all were kept"
    text = f"the data changed between rows {ends[0]} and {ends[1]}: log Z may be too low {cure}"
    # Log Z is taken outright, and modes are searched for, at the next occasion.
    state = state._replace(outright_at=0, searched_at=0)
    return state._replace(changed_at=ends[1], replay_at=2 * ends[1], change_warning=text)


def _past_the_change(state: State) -> State:
    """Log Z was taken outright since the data changed: it owes nothing to the way there."""
    return state._replace(replay_at=0, change_warning="")


def _thinned(config: Config, islands: Islands, rows: int, places: Places) -> tuple[Islands, np.ndarray]:
    """No more particles than this many rows need, and which of them these are."""
    num_kept = config.particles_per_island(rows)
    if islands.log_weights.shape[1] <= num_kept:
        return islands, np.arange(islands.log_weights.size)
    return archipelago.resample(islands, places.generator(), num_kept)


def _disagreement(fresh: Outright, state: State) -> str:
    """In words, if an outright estimate and the path differ by more than their errors.

    A path that is too low needs no explanation where the outright estimate has hardly any way to go: moves on the
    path were too slow, and it is forgotten.
    """
    path, outright = state.estimate, archipelago.estimate(fresh.islands)
    gap = outright.log_evidence - path.log_evidence
    if abs(gap) < LARGEST_GAP + 4 * np.hypot(path.standard_error, outright.standard_error):
        return ""
    if gap > 0 and SHORTER * fresh.num_steps <= state.path_length:
        return ""
    return (
        f"after {state.num_rows} rows two ways to log Z are {abs(gap):.1f} nats apart (from the prior, row by row: "
        f"{path.log_evidence:.2f}; from the particles, at once: {outright.log_evidence:.2f})"
    )


def _is_better(fresh: Outright, state: State) -> bool:
    """Whether an outright estimate rests on far fewer steps than the path, and is not much less certain.

    Each step costs a little, in variance and by moves that do not quite mix: the shorter way is the better one. From a
    prior with a funnel, which no reference has, the path is the shorter.
    """
    error, of_path = archipelago.estimate(fresh.islands).standard_error, state.estimate.standard_error
    if fresh.num_steps == 1:
        return error < max(GOOD_ERROR, LARGER_ERROR * of_path)
    return SHORTER * fresh.num_steps <= state.path_length and error < LARGER_ERROR * of_path


def _hand_over(model: Model, config: Config, state: State, rows: WithChunk, places: Places, account: Account) -> State:
    """Try to go on without all rows: each time the data have doubled."""
    if state.num_rows < state.next_attempt or not rows.is_whole:
        return state
    if model.dimension > config.largest_dimension:
        return _hand_over_wide(model, config, state, rows, places, account)
    state = state._replace(next_attempt=2 * state.num_rows)
    state, posterior, found = _explored(model, config, state, rows, places)
    anchors = bank.worth_a_surrogate(posterior, found)
    late = late_phase.start(model, config.kernel, config.batch_size, anchors, rows, state.num_rows)
    if late is None:
        return state
    sampled = late_phase.sampled(model, late, rows, places, _enough_draws(config, state.num_rows))
    if sampled is not None and not _lacks(sampled.estimate, state.estimate):
        return _populated(config, state, late, sampled, places)
    state = _refreshed(config, state, posterior, found, rows, places)
    joined = late_phase.joined(model, late, state.islands, rows, places)
    return state if joined is None else state._replace(late=joined[0], islands=joined[1])


def _lacks(outright: Estimate, path: Estimate) -> bool:
    """Whether the particles know of more evidence than an outright estimate has found."""
    error = np.hypot(outright.standard_error, path.standard_error)
    return bool(path.log_evidence - outright.log_evidence > LARGEST_LACK + 3 * error)


def _enough_draws(config: Config, num_rows: int) -> int:
    """For particles that are hardly ever copies of each other."""
    return DRAWS_PER_PARTICLE * config.num_islands * config.particles_per_island(num_rows)


def _populated(config: Config, state: State, late: Late, sampled: Sampled, places: Places) -> State:
    """Particles of weighted draws around the surrogates, and the evidence of these draws."""
    shape = config.num_islands, config.particles_per_island(state.num_rows)
    islands, chosen = archipelago.populated(
        sampled.positions, sampled.log_weights, shape, sampled.estimate, places.generator()
    )
    late = late._replace(modes=sampled.modes[chosen])
    return _past_the_change(state)._replace(islands=islands, late=late, outright_at=state.num_rows, path_length=1)


def _late_outright(model: Model, config: Config, state: State, late: Late, rows: WithChunk, places: Places) -> State:
    """Log Z of all rows by importance sampling, each time that they have doubled; modes are looked for more rarely."""
    path = archipelago.estimate(state.islands)
    if state.num_rows < _growth_to_outright(state, path.standard_error) * state.outright_at:
        return state._replace(late=late)
    state = state._replace(outright_at=state.num_rows)
    if state.num_rows >= SEARCH_GROWTH * state.searched_at and rows.is_whole:
        new = bank.new_modes(model, late_phase.centres(late), rows, state.num_rows, places)
        late = late_phase.with_modes(model, late, new, rows)
        state = state._replace(searched_at=state.num_rows)
    sampled = late_phase.sampled(model, late, rows, places)
    if sampled is None and path.standard_error > LARGE_ERROR and rows.is_whole:
        return _late_refreshed(model, config, state._replace(late=late), late, rows, places)
    if sampled is None or _lacks(sampled.estimate, path):
        return state._replace(late=late)
    state = state._replace(disagreement="")
    occupied = np.bincount(late.modes, minlength=len(late.surrogates)) / len(late.modes)
    if np.abs(sampled.shares(len(late.surrogates)) - occupied).sum() > LARGEST_IMBALANCE:
        more = late_phase.sampled(model, late, rows, places, _enough_draws(config, state.num_rows))
        return _populated(config, state, late, more or sampled, places)
    return _past_the_change(state)._replace(islands=archipelago.rebooked(state.islands, sampled.estimate), late=late)


def _growth_to_outright(state: State, error: float) -> float:
    """Of the rows since log Z was last taken outright, until it is again, in the late phase."""
    is_by_draws = state.path_length == 1  # importance sampling has been good enough so far, which costs little
    if is_by_draws and error > (SMALL_ERROR if state.num_rows <= FEW_TO_SEE else FAIR_ERROR):
        return 1.0
    return OUTRIGHT_GROWTH if error > LARGE_ERROR and state.num_rows < FEW_TO_SAMPLE else 2.0


def _late_refreshed(model: Model, config: Config, state: State, late: Late, rows: WithChunk, places: Places) -> State:
    """Particles and evidence anew from a reference, where importance sampling around the surrogates will not do."""
    posterior = Posterior(model, slabs_for_derivatives(model, rows.between(0, state.num_rows)))
    fresh = _refreshed(config, state, posterior, late_phase.known_modes(model, late), rows, places)
    if fresh.islands is state.islands:
        return fresh
    joined = late_phase.joined(model, late, fresh.islands, rows, places)
    return state if joined is None else fresh._replace(late=joined[0], islands=joined[1])


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
    state = _watch_for_change(model, state, rows, ends, places)
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
    is_settled = end < rows.num_rows or not late_phase.is_behind(late, end)
    if end < due and is_settled and not late_phase.has_strayed(late):
        return state._replace(late=late, num_rows=end)
    weighed = late_phase.weigh(model, late, state.islands, rows, end, places, account)
    if weighed is None:
        return _take_back(state, late)
    state = _watch_for_change(model, state, rows, (late.num_rows_then, end), places)
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
    if needs_move:
        state = _move(model, config, state, late, rows, places, account)
        assert state.late is not None
        late = state.late
    return _late_outright(model, config, state, late, rows, places)


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
