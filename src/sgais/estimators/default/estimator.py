"""SGAIS with error bars that hold: the default estimator.

A chunk is cut into pieces, and each piece is assimilated by the phase that the stream is in: the
exact phase, while all rows can be seen by all particles; the quadratic phase, when quadratic surrogates carry the past;
or the gradient phase, when the parameters are too many for these and a gradient carries it. docs/accuracy.md says which
error each part removes. `paper.py` is the algorithm as published.
"""

import numpy as np

from sgais.approximation.taylor import Surrogate
from sgais.compute.blocks import slabs
from sgais.compute.likelihood import log_likelihoods
from sgais.compute.random_keys import KeySequence
from sgais.estimators.base import Info
from sgais.estimators.default.config import Config
from sgais.estimators.default.context import UpdateContext
from sgais.estimators.default.diagnostics import UpdateDiagnostics
from sgais.estimators.default.phases.exact_phase import ExactPhase
from sgais.estimators.default.phases.gradient_phase import GradientPhase
from sgais.estimators.default.phases.quadratic_phase import QuadraticPhase
from sgais.estimators.default.pieces import assimilate
from sgais.estimators.default.renewal import taken_outright
from sgais.estimators.default.replay import replayed
from sgais.estimators.default.state import State, init, islands_now, log_weights_now, positions_now
from sgais.fields import Chunk
from sgais.history import Past, RowView
from sgais.kernels import HMC, Langevin
from sgais.models.base import Model
from sgais.smc import annealing
from sgais.smc.effective_sample_size import ess_fraction
from sgais.smc.islands import Islands
from sgais.smc.weights import without_failures

__all__ = [
    "SAVED_TYPES",
    "State",
    "init",
    "islands_now",
    "log_predictive",
    "log_weights_now",
    "positions_now",
    "update",
]


SAVED_TYPES: tuple[type, ...] = (State, ExactPhase, QuadraticPhase, GradientPhase, Islands, Surrogate, HMC, Langevin)


def update(model: Model, config: Config, seed: int, state: State, chunk: Chunk, past: Past) -> tuple[State, Info]:
    """Take in one chunk. Pure: `state` and `past` stay as they are, whatever happens."""
    keys = KeySequence(seed, state.num_chunks + 1)
    context = UpdateContext(model, config, RowView(past, chunk), keys, UpdateDiagnostics())
    correction = 0.0
    if 0 < state.replay_at <= state.num_rows and past.reach == past.num_rows:
        before = state.estimate.log_evidence
        state = replayed(context, state, past)
        correction = state.estimate.log_evidence - before
    state = taken_outright(context, assimilate(context, state))
    diagnostics = context.diagnostics
    lasting = "; ".join(diagnostics.warnings) or state.lasting_warning
    state = state._replace(
        num_chunks=state.num_chunks + 1,
        kernel_bias=state.kernel_bias + diagnostics.kernel_bias,
        warning="; ".join(text for text in (lasting, state.change_warning, state.doubt, state.disagreement) if text),
        lasting_warning=lasting,
    )
    return state, _info(config, state, diagnostics)._replace(correction=correction)


def log_predictive(model: Model, state: State, chunk: Chunk) -> float:
    """Log p(chunk | rows seen): the mean of the chunk's likelihood over the weighted particles."""
    found = log_likelihoods(model, positions_now(state), slabs(chunk))
    log_weights = log_weights_now(state)
    return annealing.log_mean_exp(log_weights + without_failures(found)[0]) - annealing.log_mean_exp(log_weights)


def _info(config: Config, state: State, diagnostics: UpdateDiagnostics) -> Info:
    log_weights = state.islands.log_weights
    quadratic, gradient = state.quadratic, state.gradient
    anchored = quadratic or gradient
    return Info(
        annealing_steps=diagnostics.num_weighings,
        num_moves=diagnostics.num_moves,
        final_ess=diagnostics.final_ess * log_weights.size,
        weight_ess=ess_fraction(log_weights) * log_weights.size,
        kinetic_temperature=diagnostics.kinetic_temperature,
        step_size=config.kernel.step_size if anchored is None else anchored.step_size,
        num_modes=int(gradient is not None) if quadratic is None else len(np.unique(quadratic.modes)),
        num_non_finite=diagnostics.num_non_finite,
        mode_doubt=state.mode_doubt,
    )
