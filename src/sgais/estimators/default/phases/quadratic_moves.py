"""Moves of the quadratic phase: Langevin dynamics on mini-batches, with second-order control variates."""

import numpy as np

from sgais.approximation.taylor import Normalised, without_prior
from sgais.compute import gradients
from sgais.estimators.default import policy
from sgais.estimators.default.context import UpdateContext
from sgais.estimators.default.phases import langevin_moves, minibatch_moves
from sgais.estimators.default.phases.langevin_moves import Batches, Whitening
from sgais.estimators.default.phases.quadratic_phase import QuadraticPhase, normalised
from sgais.kernels import langevin
from sgais.models.base import real_dtype
from sgais.smc.islands import Islands


def move(context: UpdateContext, phase: QuadraticPhase, islands: Islands) -> tuple[QuadraticPhase, Islands] | None:
    """Langevin moves with control variates; None if no batch and no step keeps their temperature near 1."""
    now = normalised(phase.surrogates)
    assert now is not None
    positions, end = islands.all_positions, phase.num_rows_then

    def attempt(settings: minibatch_moves.StepSettings) -> tuple[np.ndarray, langevin.Info]:
        return _langevin(context, phase, now, settings, positions, end)

    settings = minibatch_moves.StepSettings(phase.batch_size, phase.step_size)
    moved = minibatch_moves.move(
        attempt, context.config.kernel, settings, _limits(context.rows.is_whole, end), context.diagnostics
    )
    if moved is None:
        return None
    return phase._replace(temperature=moved.temperature, **moved.settings._asdict()), islands.with_positions(
        moved.positions
    )


def warm_up(context: UpdateContext, phase: QuadraticPhase, islands: Islands) -> None:
    """Move the particles and forget it: the program is then there, and its memory taken, before it is needed.

    The first move of a stream may come after millions of rows.
    """
    now = normalised(phase.surrogates)
    assert now is not None
    settings = minibatch_moves.StepSettings(phase.batch_size, phase.step_size)
    _langevin(context, phase, now, settings, islands.all_positions, phase.num_rows_then)


def _limits(may_see_all_rows: bool, num_rows: int) -> minibatch_moves.Limits:
    if may_see_all_rows:
        largest = min(int(policy.LARGEST_BATCH_SHARE * num_rows), policy.LARGEST_BATCH)
        return minibatch_moves.Limits(largest, policy.QUADRATIC_NOISE_SHARE, bearable=policy.QUADRATIC_NOISE_SHARE)
    return minibatch_moves.Limits(min(num_rows, policy.LARGEST_BATCH), policy.QUADRATIC_NOISE_SHARE)


def _langevin(
    context: UpdateContext,
    phase: QuadraticPhase,
    now: list[Normalised],
    settings: minibatch_moves.StepSettings,
    positions: np.ndarray,
    end: int,
) -> tuple[np.ndarray, langevin.Info]:
    """One move in the surrogates' whitened coordinates."""
    half = settings.batch_size // 2
    shape = context.config.kernel.num_steps + 1, 2
    rows = context.rows.draw(context.keys.generator(), (*shape, half), 0, end)
    whitened = np.empty_like(positions)
    for mode, one in enumerate(now):
        mine = phase.modes == mode
        whitened[mine] = one.gaussian.whiten(positions[mine])
    centres = np.array([one.gaussian.centre for one in now])[phase.modes]
    unwhitening = np.array([_unwhitening(one) for one in now])[phase.modes]
    of_rows = [without_prior(context.model, surrogate) for surrogate in phase.surrogates]
    # By NumPy: each operation of JAX outside a compiled function is a program of its own, with megabytes of its own.
    anchors = gradients.Anchors(
        np.array([known.anchor for known in of_rows], real_dtype())[phase.modes],
        np.array([known.gradient for known in of_rows], real_dtype())[phase.modes],
        np.array([known.hessian for known in of_rows], real_dtype())[phase.modes],
    )
    batches = Batches(rows, np.full(shape, end / half, real_dtype()))
    return langevin_moves.move(context, whitened, Whitening(centres, unwhitening), anchors, batches, settings.step_size)


def _unwhitening(one: Normalised) -> np.ndarray:
    return np.linalg.inv(np.linalg.cholesky(one.gaussian.precision).T)
