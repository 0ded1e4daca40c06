"""The quadratic phase's place taken by a gradient, for models of many parameters, where no Hessians are kept.

Rows are weighed exactly, by all particles, and annealed in where they are too much at once. What the past says is kept
at one anchor amid the particles: the gradient of the log-likelihood, a sum over all rows in float64, to which a new row
is added once. Moves take it from there by a mini-batch of differences (first-order control variates), so that their
cost does not depend on how many rows there have been. The noise of these gradients grows with the number of parameters;
it is measured and made up for, and where it is too much the moves see all rows.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from sgais.compute import gradients
from sgais.compute.blocks import Blocks, pack_whole, slabs
from sgais.compute.likelihood import curvature_in_turn, gradient_sum
from sgais.estimators.default import policy
from sgais.estimators.default.context import UpdateContext
from sgais.estimators.default.phases import langevin_moves, minibatch_moves
from sgais.estimators.default.phases.exact_phase import weigh
from sgais.estimators.default.phases.langevin_moves import Batches, Whitening
from sgais.estimators.full_data_hmc import whiten
from sgais.fields import num_rows
from sgais.history import RowSpan
from sgais.kernels import Langevin, langevin
from sgais.models.base import Model, real_dtype
from sgais.smc.effective_sample_size import ess_fraction
from sgais.smc.islands import Islands, have_diverged, largest_step, migrate, resample

ROWS_AT_ONCE = 16384  # in passes over all rows
LARGEST_MOVE = 2**29  # bytes of all mini-batches of a move

AllRows: TypeAlias = Callable[[Islands, float], Islands]


class GradientPhase(NamedTuple):
    """The anchor, and how the particles move about it.

    Attributes:
        anchor: The position, shape (d,), in numbers that the device can hold.
        gradient: Of the log-likelihood there, shape (d,), float64, summed over all rows so far.
        whitening: W, shape (d, d); W W' is the inverse of the curvature there when the anchor was set.
        precision: Of the prior, per coordinate.
        num_rows_anchored: Rows at which the anchor was set.
        batch_size: Rows per mini-batch of a move.
        step_size: Of the moves.
        temperature: Of the last move; 1 if it was exact.
    """

    anchor: np.ndarray
    gradient: np.ndarray
    whitening: np.ndarray
    precision: np.ndarray
    num_rows_anchored: int
    batch_size: int
    step_size: float
    temperature: float

    def whitened(self, positions: np.ndarray, count: float) -> np.ndarray:
        """Positions (n, d) from the anchor, in standard deviations of the posterior of `count` rows."""
        steps = (positions - self.anchor).T
        return np.linalg.solve(self.whitening, steps).T * np.sqrt(count / self.num_rows_anchored)


class Target(NamedTuple):
    """What the particles are to follow: all rows before a span, and those of the span tempered.

    Attributes:
        span: Of the new rows.
        piece: The same rows.
        inverse_temperature: Of these.
    """

    span: RowSpan
    piece: Sequence[Blocks]
    inverse_temperature: float

    @property
    def num_rows(self) -> float:
        """How many rows it amounts to."""
        return self.span.start + self.inverse_temperature * (self.span.end - self.span.start)


def start(
    context: UpdateContext, precision: np.ndarray, islands: Islands, end: int
) -> tuple[GradientPhase, Islands] | None:
    """An anchor amid equally weighted particles, and a first move from there; None if mini-batches are too noisy."""
    position = islands.all_positions.mean(axis=0)
    anchor, gradient = _at_anchor(context, position, end)
    whitening = _whitening(context, anchor, precision, end)
    phase = GradientPhase(
        anchor, gradient, whitening, precision, end, context.config.batch_size, context.config.kernel.step_size, 1.0
    )
    nothing_new = Target(RowSpan(end, end), slabs(context.rows.between(end - 1, end)), 0.0)
    return move(context, phase, islands, nothing_new)


def assimilate(
    context: UpdateContext, phase: GradientPhase, islands: Islands, span: RowSpan, on_all_rows: AllRows
) -> tuple[GradientPhase | None, Islands]:
    """Anneal in the rows of a span.

    Args:
        context: Of the update.
        phase: The anchor.
        islands: The particles.
        span: Of the new rows.
        on_all_rows: Moves the particles exactly, given the inverse temperature of the new rows.

    Returns:
        The anchor after these rows, None if moves on mini-batches were given up, and the particles.
    """
    piece = slabs(context.rows.between(*span))
    now: GradientPhase | None = phase
    inverse_temperature = 0.0
    while True:
        values = weigh(context, islands, piece, at_prior=False)
        rest = (1.0 - inverse_temperature) * values
        if ess_fraction(islands.log_weights + rest) >= context.config.target_ess_fraction:
            context.diagnostics.final_ess = ess_fraction(rest)
            context.diagnostics.kernel_bias += _kernel_bias(now, islands, rest, span.start)
            return None if now is None else _with_rows(context.model, now, piece), islands.reweighted(rest)
        if ess_fraction(islands.log_weights) > policy.FRESH:
            step = largest_step(
                islands.log_weights, values, 1.0 - inverse_temperature, context.config.target_ess_fraction
            )
            context.diagnostics.kernel_bias += _kernel_bias(now, islands, step * values, span.start)
            islands = islands.reweighted(step * values)
            inverse_temperature += step
        islands, _ = (migrate if have_diverged(islands, policy.SPREAD) else resample)(islands, context.keys.generator())
        target = Target(span, piece, inverse_temperature)
        moved = None if now is None else move(context, now, islands, target)
        now, islands = (None, on_all_rows(islands, inverse_temperature)) if moved is None else moved


def move(
    context: UpdateContext, phase: GradientPhase, islands: Islands, target: Target
) -> tuple[GradientPhase, Islands] | None:
    """Langevin moves of equally weighted particles; None if no batch and no step keeps their temperature near 1."""
    positions = islands.all_positions
    phase = _anchored_amid(context, phase, positions, target)
    of_piece = _gradient(context.model, phase.anchor, target.piece) if target.inverse_temperature > 0 else 0.0
    gradient = phase.gradient + target.inverse_temperature * of_piece

    def attempt(settings: minibatch_moves.StepSettings) -> tuple[np.ndarray, langevin.Info]:
        return _langevin(context, phase, gradient, settings, positions, target)

    limits = minibatch_moves.Limits(_largest_batch(context.config.kernel, target), policy.GRADIENT_NOISE_SHARE)
    moved = minibatch_moves.move(
        attempt,
        context.config.kernel,
        minibatch_moves.StepSettings(phase.batch_size, phase.step_size),
        limits,
        context.diagnostics,
    )
    if moved is None:
        return None
    return phase._replace(temperature=moved.temperature, **moved.settings._asdict()), islands.with_positions(
        moved.positions
    )


def _anchored_amid(
    context: UpdateContext, phase: GradientPhase, positions: np.ndarray, target: Target
) -> GradientPhase:
    """The anchor put back amid the particles, where it has been left behind or the data have doubled.

    The noise of the gradients goes with the particles' square distance from the anchor, of which their own spread is d.
    """
    centre, end = positions.mean(axis=0), target.span.start
    distance = float(np.sum(phase.whitened(centre[None], target.num_rows) ** 2))
    own_noise = 2.0 / len(positions)  # of the mean of half as many particles
    is_near = distance < (policy.ANCHOR_SHARE + own_noise) * len(centre) + 4.0
    if is_near and target.num_rows < 2 * phase.num_rows_anchored:
        return phase
    if context.rows.is_whole:
        anchor, gradient = _at_anchor(context, centre, end)
    else:
        anchor, gradient = _shifted(context, phase, centre, end)
    whitening = _whitening(context, anchor, phase.precision, end)
    return phase._replace(anchor=anchor, gradient=gradient, whitening=whitening, num_rows_anchored=end)


def _at_anchor(context: UpdateContext, position: np.ndarray, end: int) -> tuple[np.ndarray, np.ndarray]:
    """An anchor and the gradient of the log-likelihood there, by a pass over all rows."""
    anchor = position.astype(real_dtype()).astype(np.float64)
    gradient = np.zeros(len(anchor))
    for first in range(0, end, ROWS_AT_ONCE):
        gradient = gradient + _gradient(
            context.model, anchor, slabs(context.rows.between(first, min(end, first + ROWS_AT_ONCE)))
        )
    return anchor, gradient


def _shifted(
    context: UpdateContext, phase: GradientPhase, position: np.ndarray, end: int
) -> tuple[np.ndarray, np.ndarray]:
    """The same without all rows: the change from the old anchor to the new one comes from those that are kept."""
    anchor = position.astype(real_dtype()).astype(np.float64)
    kept, counts = context.rows.weighted_sample(end)
    halves = []
    for first in (0, 1):
        half = slabs({name: values[first::2] for name, values in kept.items()}, counts=counts[first::2])
        halves.append(_gradient(context.model, anchor, half) - _gradient(context.model, phase.anchor, half))
    # Halves of the rows say the same of all of them but for their noise, which is that of the sum as well.
    noise = (halves[0] - halves[1]) @ phase.whitening * np.sqrt(phase.num_rows_anchored / end)
    lost = 0.5 * float(noise @ noise)
    if lost > policy.ANCHOR_ERROR:
        context.diagnostics.warn(
            f"after {end} rows the gradient at a new anchor came from a sample of {len(counts)} rows, too few for "
            f"{len(anchor)} parameters: log Z may be off by {lost:.0f} nats or more. Keep more: Reservoir(size=...)"
        )
    return anchor, phase.gradient + halves[0] + halves[1]


def _whitening(context: UpdateContext, anchor: np.ndarray, precision: np.ndarray, end: int) -> np.ndarray:
    """The shape of the posterior, from the curvature of a sample of rows at the anchor: it biases no move."""
    sample = context.rows.sample(
        context.keys.generator(), max(policy.FEWEST_METRIC_ROWS, policy.METRIC_ROWS * len(anchor)), 0, end
    )
    count = num_rows(sample)
    at, floor = anchor.astype(real_dtype()), precision.astype(real_dtype())
    whitening = np.asarray(_compiled_whitening(context.model, at, floor, pack_whole(sample), end / count), np.float64)
    # The inverse of a matrix that comes from a sample is too large on average, by this much where rows are Gaussian.
    return whitening if count == end else whitening * np.sqrt(max(1.0 - len(anchor) / count, 0.5))


def _with_rows(model: Model, phase: GradientPhase, piece: Sequence[Blocks]) -> GradientPhase:
    return phase._replace(gradient=phase.gradient + _gradient(model, phase.anchor, piece))


def _gradient(model: Model, anchor: np.ndarray, rows: Sequence[Blocks]) -> np.ndarray:
    """The gradient of the rows' log-likelihood, their slabs added in float64."""
    at = anchor.astype(real_dtype())
    return np.sum([np.asarray(_likelihood_gradient(model, at, slab), np.float64) for slab in rows], axis=0)


def _kernel_bias(phase: GradientPhase | None, islands: Islands, log_weights: np.ndarray, count: float) -> float:
    """The error of log Z from the last move's excess temperature, with energies as the whitening has them."""
    if phase is None or phase.temperature == 1.0:
        return 0.0
    positions = islands.all_positions
    steps = phase.whitened(positions, count) - phase.whitened(positions.mean(axis=0)[None], count)
    return minibatch_moves.temperature_bias(phase.temperature, log_weights.ravel(), 0.5 * np.sum(steps**2, axis=1))


def _largest_batch(kernel: Langevin, target: Target) -> int:
    """More rows than half of all would cost more than a move on all rows, too many would not fit into memory."""
    row_bytes = sum(values[0, 0].nbytes for values in target.piece[0].columns.values())
    return min(target.span.start // 2, policy.LARGEST_BATCH, LARGEST_MOVE // (row_bytes * (kernel.num_steps + 1)))


def _langevin(
    context: UpdateContext,
    phase: GradientPhase,
    gradient: np.ndarray,
    settings: minibatch_moves.StepSettings,
    positions: np.ndarray,
    target: Target,
) -> tuple[np.ndarray, langevin.Info]:
    """One move in whitened coordinates."""
    batches = _batches(context, settings, target)
    scaled = phase.whitening * np.sqrt(phase.num_rows_anchored / target.num_rows)
    anchors = gradients.Anchors(*(jnp.asarray(value.astype(real_dtype())) for value in (phase.anchor, gradient)))
    whitened = phase.whitened(positions, target.num_rows)
    return langevin_moves.move(context, whitened, Whitening(phase.anchor, scaled), anchors, batches, settings.step_size)


def _batches(context: UpdateContext, settings: minibatch_moves.StepSettings, target: Target) -> Batches:
    """Two half-batches for each step, and how many rows each of their rows stands for."""
    border, end = target.span
    end = border if target.inverse_temperature == 0 else end
    shape = context.config.kernel.num_steps + 1, 2, settings.batch_size // 2
    numbers = context.keys.generator().integers(0, end, size=shape)
    tempered = np.where(numbers < border, 1.0, target.inverse_temperature)
    return Batches(context.rows.take(numbers, 0, end), (end / shape[2] * tempered).astype(real_dtype()))


@partial(jax.jit, static_argnames="model")
def _compiled_whitening(
    model: Model, anchor: jax.Array, precision: jax.Array, sample: Blocks, rows_per_sampled_row: float
) -> jax.Array:
    of_rows = curvature_in_turn(model, anchor[None], sample, len(sample.weights))
    return whiten(rows_per_sampled_row * of_rows - jax.hessian(model.log_prior_at)(anchor), precision)


@partial(jax.jit, static_argnames="model")
def _likelihood_gradient(model: Model, anchor: jax.Array, rows: Blocks) -> jax.Array:
    return gradient_sum(model, anchor[None], rows)[0]
