"""The exact phase of SGAIS: while rows are few, particles see all of them.

Rows come in pieces that double the data. A piece is weighed at once; only when the weights have become too uneven are
the particles resampled and moved, by HMC on all rows, and a piece that is too much at once is annealed in.
Metropolis tests leave no bias, many particles find the modes before these freeze.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sgais.compute.blocks import BLOCK_ROWS, SLAB_ROWS, Blocks, pack, slabs
from sgais.compute.label_symmetry import arranged
from sgais.compute.likelihood import log_likelihoods
from sgais.estimators import full_data_hmc
from sgais.estimators.default import policy
from sgais.estimators.default import sketch as sketches
from sgais.estimators.default.context import UpdateContext
from sgais.estimators.default.sketch import AllRows
from sgais.estimators.full_data_hmc import Density
from sgais.history import RowSpan, RowView
from sgais.models.base import real_dtype
from sgais.smc.effective_sample_size import ess_fraction
from sgais.smc.islands import Islands, largest_step, resample
from sgais.smc.weights import usable

SMALL_BLOCKS = 64  # rows, since there may be few
CAPACITY_GROWTH = 8


class ExactPhase(NamedTuple):
    """What the moves need besides the particles.

    Attributes:
        precision: Of the prior, per coordinate.
        step_size: Of the next HMC trajectories, one for each whitening (or for both, in checkpoints of before).
    """

    precision: np.ndarray
    step_size: np.ndarray | float = full_data_hmc.FIRST_STEP_SIZES


def assimilate(
    context: UpdateContext, phase: ExactPhase, islands: Islands, span: RowSpan
) -> tuple[ExactPhase, Islands]:
    """Anneal in the rows of a span."""
    few = span.end - span.start <= BLOCK_ROWS
    diagnostics, target = context.diagnostics, context.config.target_ess_fraction
    piece = slabs(context.rows.between(*span), *((BLOCK_ROWS, SMALL_BLOCKS) if few else (SLAB_ROWS, BLOCK_ROWS)))
    inverse_temperature, has_moved = 0.0, False
    while True:
        values = weigh(context, islands, piece, at_prior=span.start == 0 and diagnostics.num_moves == 0)
        rest = (1.0 - inverse_temperature) * values
        if ess_fraction(islands.log_weights + rest) >= target:
            diagnostics.final_ess = ess_fraction(rest)
            return phase, islands.reweighted(rest)
        if has_moved or ess_fraction(islands.log_weights) > policy.FRESH:
            step = largest_step(islands.log_weights, values, 1.0 - inverse_temperature, target)
            islands = islands.reweighted(step * values)
            inverse_temperature += step
        islands, _ = resample(islands, context.keys.generator())
        phase, islands = move(context, phase, islands, span, inverse_temperature)
        has_moved = True


def weigh(context: UpdateContext, islands: Islands, piece: Sequence[Blocks], at_prior: bool) -> np.ndarray:
    """The piece's log-likelihood at every particle, in the shape of the islands' weights."""
    found = log_likelihoods(context.model, islands.all_positions, piece)
    values, num_failed = usable(found, at_prior)
    context.diagnostics.num_weighings += 1
    context.diagnostics.num_non_finite += num_failed
    return values.reshape(islands.log_weights.shape)


def move(
    context: UpdateContext, phase: ExactPhase, islands: Islands, span: RowSpan, inverse_temperature: float
) -> tuple[ExactPhase, Islands]:
    """HMC on all rows before the span, and on those of the span tempered.

    Where rows are many it sees a sketch of them, and weighs the particles by what that lacks.
    """
    model, kernel, keys = context.model, context.config.early_kernel, context.keys
    if span.end >= policy.LONG_MOVES:
        kernel = replace(kernel, num_trajectories=min(kernel.num_trajectories, policy.SHORT_MOVE))
    if not context.rows.is_whole:
        context.diagnostics.warn(
            f"moves had to see all rows when {span.start} had come, but a sample of these was all that had been kept: "
            "log Z may be off by many nats. Keep more of them: Reservoir(size=...)"
        )
    positions = islands.all_positions
    positions, order = arranged(model, positions, positions[0], keys.generator(), full_data_hmc.SHARE_IN_ORDER)
    of_all = tempered(context.rows, span, inverse_temperature)

    def on(data: Blocks) -> tuple[ExactPhase, Islands]:
        key, at, density = keys.next(), positions.astype(real_dtype()), Density(data, order)
        moved, info = full_data_hmc.move(model, kernel, key, at, density, phase.step_size, phase.precision)
        context.diagnostics.num_moves += 1
        context.diagnostics.num_non_finite += int(info.num_non_finite)
        return phase._replace(step_size=np.asarray(info.step_size)), islands.with_positions(moved)

    sketch = sketches.sketch(model, positions, of_all, keys.generator())
    if sketch is not None:
        after, moved = on(sketch.data)
        weighed = moved.reweighted(sketch.lacks(model, moved.all_positions, of_all) - sketch.offset)
        if ess_fraction(weighed.log_weights) > policy.GOOD_SKETCH:
            return after, weighed
    return on(packed(of_all))


def tempered(rows: RowView, span: RowSpan, inverse_temperature: float) -> AllRows:
    """All rows before the span, and those of the span with weights below one."""
    old, counts = rows.weighted_sample(span.start)
    new = rows.between(*span)
    counts = np.concatenate([counts, np.full(span.end - span.start, inverse_temperature)])
    return AllRows({name: np.concatenate([old[name], new[name]]) for name in new}, counts)


def packed(of_all: AllRows) -> Blocks:
    """All rows at once, as moves take them."""
    capacity = SLAB_ROWS  # one compiled program serves streams up to this many rows
    while capacity < len(of_all.counts):
        capacity *= CAPACITY_GROWTH
    return pack(of_all.rows, capacity, SMALL_BLOCKS, of_all.counts)
