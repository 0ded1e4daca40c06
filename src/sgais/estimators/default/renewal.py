"""Log Z taken anew from all rows, and particles with it, so that it owes nothing to the path by which these came.

In the exact phase by annealing from a reference density (`outright`), in the quadratic phase by importance sampling
around the surrogates (`quadratic_draws`). The shorter of two ways is believed; where they differ, the record says so.
"""

import numpy as np

from sgais.approximation.log_posterior import Posterior
from sgais.approximation.modes.unseen_modes import Found
from sgais.compute.likelihood import slabs_for_derivatives
from sgais.estimators.default import mode_bank, outright, policy
from sgais.estimators.default.config import Config
from sgais.estimators.default.context import UpdateContext
from sgais.estimators.default.outright import Outright
from sgais.estimators.default.phases import exact_phase, quadratic_phase
from sgais.estimators.default.phases.quadratic_draws import Sampled
from sgais.estimators.default.phases.quadratic_phase import QuadraticPhase
from sgais.estimators.default.state import State, past_the_change, thinned
from sgais.history import RowSpan
from sgais.smc.islands import booked, populated
from sgais.smc.weights import Estimate


def taken_outright(context: UpdateContext, state: State) -> State:
    """Log Z of all rows, free of what the path has accumulated, and fresh particles."""
    sees_all = (
        state.quadratic is None
        and state.gradient is None
        and context.model.dimension <= context.config.largest_dimension
    )
    growth = policy.OUTRIGHT_GROWTH if state.num_rows < policy.FEW_TO_SAMPLE else policy.LATER_OUTRIGHT_GROWTH
    if not sees_all or not context.rows.is_whole or state.num_rows < growth * state.outright_at:
        return state
    state, posterior, found = explored(context, state)
    return refreshed(context, state, posterior, found)


def quadratic_outright(context: UpdateContext, state: State, quadratic: QuadraticPhase) -> State:
    """Log Z of all rows by importance sampling, each time that they have doubled; modes are looked for more rarely."""
    path = state.islands.estimate
    if state.num_rows < _growth_to_outright(state, path.standard_error) * state.outright_at:
        return state._replace(quadratic=quadratic)
    state = state._replace(outright_at=state.num_rows)
    if state.num_rows >= policy.SEARCH_GROWTH * state.searched_at and context.rows.is_whole:
        new = mode_bank.new_modes(
            context.model, quadratic_phase.centres(quadratic), context.rows, state.num_rows, context.keys
        )
        quadratic = quadratic_phase.with_modes(context, quadratic, new)
        state = state._replace(searched_at=state.num_rows)
    quadratic, sampled = quadratic_phase.sampled_near(context, quadratic, enough_draws(context.config, state.num_rows))
    if sampled is None and path.standard_error > policy.LARGE_ERROR and context.rows.is_whole:
        return _quadratic_refreshed(context, state._replace(quadratic=quadratic), quadratic)
    if sampled is None or lacks(sampled.estimate, path):
        return state._replace(quadratic=quadratic)
    # Particles that were only weighed, each island by itself, are no longer the posterior's: log Z would drift.
    return redrawn(context, state._replace(disagreement=""), quadratic, sampled)


def explored(context: UpdateContext, state: State) -> tuple[State, Posterior, Found]:
    """The posterior of all rows so far and its modes, which are searched for anew when the rows have doubled."""
    posterior = mode_bank.posterior_of(context.model, context.rows.between(0, state.num_rows), context.keys.generator())
    is_due = state.num_rows >= 2 * state.searched_at
    known = np.zeros((0, context.model.dimension)) if state.bank is None else state.bank
    found = mode_bank.look_for_modes(posterior, state.islands.all_positions, known, context.keys.seed, is_due)
    state = state._replace(bank=mode_bank.positions_of(context.model, found))
    if is_due:
        state = _doubting(
            state,
            found,
            context.config.num_islands * context.config.particles_per_island(max(state.num_rows, policy.FEW_ROWS)),
        )
    return state, posterior, found


def _doubting(state: State, found: Found, num_particles: int) -> State:
    """What a search says of modes that may be missing, as far as they matter: where modes hold the evidence."""
    state = state._replace(searched_at=state.num_rows, doubt="", mode_doubt=0.0)
    if found.log_evidence < state.estimate.log_evidence - policy.HIDDEN_MODE:
        return state
    count = len(found.carriers)
    if policy.PARTICLES_PER_MODE * count > num_particles:
        doubt = f"the evidence is spread over {count} modes or more, too many for {num_particles} particles"
    elif found.doubt is not None and state.num_rows >= policy.FIRST_ATTEMPT:
        doubt = found.doubt  # while rows are fewer, the way from the prior leads to all modes
    else:
        return state
    return state._replace(doubt=f"after {state.num_rows} rows {doubt}", mode_doubt=found.doubt_in_nats)


def refreshed(context: UpdateContext, state: State, posterior: Posterior, found: Found) -> State:
    """Particles that were annealed from a reference to the posterior, and their evidence, where these are better."""
    islands, _ = thinned(context, state.islands, max(state.num_rows, policy.FEW_ROWS))
    of_all = exact_phase.tempered(context.rows, RowSpan(0, state.num_rows), 1.0)
    fresh = outright.sample(context, posterior, state.exact, islands, found, of_all)
    state = state._replace(outright_at=state.num_rows, disagreement="")
    if fresh is None:
        return state
    state = state._replace(disagreement=_disagreement(fresh, state))
    if not _is_better(fresh, state):
        return state
    return past_the_change(state)._replace(
        islands=booked(fresh.islands, context.keys.generator()), path_length=fresh.num_steps
    )


def _disagreement(fresh: Outright, state: State) -> str:
    """In words, if an outright estimate finds less than the path, beyond their errors: it may have missed a mode.

    A path that is too low needs no explanation: its moves were slow, or led past a mode, and it is forgotten.
    """
    path, outright = state.estimate, fresh.islands.estimate
    gap = path.log_evidence - outright.log_evidence
    if gap < policy.LARGEST_GAP + 4 * np.hypot(path.standard_error, outright.standard_error):
        return ""
    return (
        f"after {state.num_rows} rows two ways to log Z are {gap:.1f} nats apart (from the prior, row by row: "
        f"{path.log_evidence:.2f}; from the particles, at once: {outright.log_evidence:.2f})"
    )


def _is_better(fresh: Outright, state: State) -> bool:
    """Whether an outright estimate has found more than the path, or rests on far fewer steps and is as certain.

    Either Z is right on average, so that it is c times too large with a probability of 1 / c at most (Markov), but too
    small whenever a mode is missed: of two that disagree the larger one is to be believed. Where they agree, each step
    costs a little, in variance and by moves that do not quite mix: the shorter way is the better one, unless it finds
    less, as it does where its particles have lost a mode that the path still has. From a prior with a funnel, which no
    reference has, the path is the shorter.
    """
    path, outright = state.estimate, fresh.islands.estimate
    if lacks(path, outright):
        return True
    if fresh.num_steps == 1:
        return outright.standard_error < max(policy.GOOD_ERROR, policy.LARGER_ERROR * path.standard_error)
    is_shorter = policy.SHORTER * fresh.num_steps <= state.path_length
    gap = path.log_evidence - outright.log_evidence
    finds_less = gap > policy.TOLERATED_GAP * np.hypot(path.standard_error, outright.standard_error)
    return is_shorter and not finds_less and outright.standard_error < policy.LARGER_ERROR * path.standard_error


def lacks(one: Estimate, other: Estimate) -> bool:
    """Whether one estimate has missed evidence that the other knows of."""
    error = np.hypot(one.standard_error, other.standard_error)
    return bool(other.log_evidence - one.log_evidence > policy.LARGEST_LACK + 3 * error)


def enough_draws(config: Config, num_rows: int) -> int:
    """For particles that are hardly ever copies of each other."""
    return policy.DRAWS_PER_PARTICLE * config.num_islands * config.particles_per_island(num_rows)


def redrawn(context: UpdateContext, state: State, quadratic: QuadraticPhase, sampled: Sampled) -> State:
    """Particles of weighted draws around the surrogates, and the evidence of these draws."""
    shape = context.config.num_islands, context.config.particles_per_island(state.num_rows)
    islands, chosen = populated(
        sampled.positions, sampled.log_weights, shape, sampled.estimate, context.keys.generator()
    )
    quadratic = quadratic._replace(modes=sampled.modes[chosen])
    return past_the_change(state)._replace(
        islands=islands, quadratic=quadratic, outright_at=state.num_rows, path_length=1
    )


def _growth_to_outright(state: State, error: float) -> float:
    """By how much the rows grow since log Z was last taken outright, until it is again, in the quadratic phase."""
    is_by_draws = state.path_length == 1  # importance sampling has been good enough so far, which costs little
    if is_by_draws and error > (policy.SMALL_ERROR if state.num_rows <= policy.FEW_TO_SEE else policy.FAIR_ERROR):
        return 1.0
    is_soon = error > policy.LARGE_ERROR and state.num_rows < policy.FEW_TO_SAMPLE
    return policy.OUTRIGHT_GROWTH if is_soon else policy.LATER_OUTRIGHT_GROWTH


def _quadratic_refreshed(context: UpdateContext, state: State, quadratic: QuadraticPhase) -> State:
    """Particles and evidence anew from a reference, where importance sampling around the surrogates will not do."""
    posterior = Posterior(context.model, slabs_for_derivatives(context.model, context.rows.between(0, state.num_rows)))
    fresh = refreshed(context, state, posterior, quadratic_phase.known_modes(context.model, quadratic))
    if fresh.islands is state.islands:
        return fresh
    joined = quadratic_phase.joined(context, quadratic, fresh.islands)
    return state if joined is None else fresh._replace(quadratic=joined[0], islands=joined[1])
