"""Importance sampling around one mode, from all rows anew at every chunk: an estimator for few rows.

It is what a fleet does with all its keys at once (`many.py`), for a single stream: log Z depends on the rows and the
seed, not on how they were cut into chunks.
"""

from typing import NamedTuple

import numpy as np

from sgais.approximation.pareto import LARGEST_TRUSTED
from sgais.compute.blocks import pack
from sgais.compute.likelihood import log_likelihoods
from sgais.compute.prior_draws import sample_prior
from sgais.errors import ConfigError
from sgais.estimators.base import Info
from sgais.estimators.importance.config import ImportanceConfig
from sgais.estimators.importance.many import PURPOSE, KeyedRows, capacity_of, drawn, padded_lines, summary
from sgais.fields import Chunk, num_rows
from sgais.history import Past, RowView
from sgais.models.base import Model
from sgais.smc import annealing
from sgais.smc.weights import Estimate, usable, without_failures


class ImportanceState(NamedTuple):
    """The draws and what they say."""

    positions: np.ndarray  # (draws, d)
    log_weights: np.ndarray  # (draws,)
    estimate: Estimate
    num_rows: int
    num_chunks: int
    warning: str = ""
    kernel_bias: float = 0.0  # nothing is moved


SAVED_TYPES: tuple[type, ...] = (ImportanceState, Estimate)


def init(model: Model, config: ImportanceConfig, seed: int) -> ImportanceState:
    """Draws from the prior."""
    if model.num_labels > 1:
        raise ConfigError(
            f"`model` must have one mode to be drawn around, got {model.num_labels} exchangeable labels. "
            "Use sgais.Config."
        )
    positions = sample_prior(model, config.num_draws, seed, PURPOSE)
    return ImportanceState(positions, np.zeros(config.num_draws), Estimate(0.0, 0.0), num_rows=0, num_chunks=0)


def update(
    model: Model, config: ImportanceConfig, seed: int, state: ImportanceState, chunk: Chunk, past: Past
) -> tuple[ImportanceState, Info]:
    """Draw anew around the mode of all rows. Pure: `state` and `past` stay as they are."""
    rows = RowView(past, chunk)
    if not rows.is_whole:
        raise ConfigError("`history` must keep all rows for importance sampling, got a sample of them. Use Memory.")
    count = state.num_rows + num_rows(chunk)
    lines = padded_lines(np.array([0]), np.array([count]), capacity_of(count))
    all_rows = rows.between(rows.num_rows - count, rows.num_rows)
    keyed = KeyedRows({name: values[lines] for name, values in all_rows.items()}, np.array([count]))
    positions, log_weights = drawn(model, config, keyed, np.array([seed]), np.array([0]))
    usable(log_weights[0], at_prior=False)
    found = summary(positions[:1], log_weights[:1])
    size = annealing.effective_sample_size(log_weights[0])
    return ImportanceState(
        positions[0],
        log_weights[0],
        Estimate(float(found.log_evidences[0]), float(found.errors[0])),
        count,
        state.num_chunks + 1,
        warning_of(float(found.shapes[0])),
    ), Info(
        annealing_steps=1,
        num_moves=1,
        final_ess=size,
        weight_ess=size,
        kinetic_temperature=float("nan"),
        step_size=0.0,
        num_modes=1,
        num_non_finite=int(np.isneginf(log_weights[0]).sum()),
    )


def warning_of(shape: float) -> str:
    """What the tail of the weights says against log Z."""
    if shape < LARGEST_TRUSTED:
        return ""
    return f"the tail of the importance weights is heavy (k = {shape:.1f}): log Z may be off by more than its error"


def log_predictive(model: Model, state: ImportanceState, chunk: Chunk) -> float:
    """Log p(chunk | rows seen): the mean of the chunk's likelihood over the weighted draws."""
    values, _ = without_failures(log_likelihoods(model, state.positions, [pack(chunk)]))
    return annealing.log_mean_exp(state.log_weights + values) - annealing.log_mean_exp(state.log_weights)


def positions_now(state: ImportanceState) -> np.ndarray:
    """The draws' positions, shape (draws, d)."""
    return state.positions


def log_weights_now(state: ImportanceState) -> np.ndarray:
    """Their log weights, not normalised."""
    return state.log_weights


def islands_now(state: ImportanceState) -> tuple[np.ndarray, np.ndarray]:
    """Positions and log weights with a leading axis for islands: there is one."""
    return state.positions[None], state.log_weights[None]
