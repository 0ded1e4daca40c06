"""Log Z of all rows so far taken outright, without the path by which the particles came key.

A path from the prior accumulates errors, and keeps them for ever: moves that mix too slowly while rows are few leave
log Z too low by nats, though the particles are right in the end. So a reference density is fitted to where they are
now (`reference`), drawn from afresh, and annealed to the posterior of all rows. Where the reference is good this is
importance sampling, in one step. The particles that it leaves are as good as new.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sgais.approximation import reference as references
from sgais.approximation.log_posterior import Posterior
from sgais.approximation.modes.unseen_modes import Found
from sgais.approximation.pareto import tail_shape, unseen_tail
from sgais.approximation.reference import Reference
from sgais.compute.blocks import Blocks
from sgais.compute.label_symmetry import LabelOrder, are_in_order, arranged, num_images
from sgais.estimators import full_data_hmc
from sgais.estimators.default import policy
from sgais.estimators.default import sketch as sketches
from sgais.estimators.default.context import UpdateContext
from sgais.estimators.default.mode_bank import images_in_order, in_labelling
from sgais.estimators.default.phases.exact_phase import ExactPhase, packed
from sgais.estimators.default.sketch import AllRows
from sgais.estimators.full_data_hmc import Density, Tilt
from sgais.models.base import Model, real_dtype
from sgais.smc import annealing
from sgais.smc.effective_sample_size import effective_sample_size, ess_fraction
from sgais.smc.islands import Islands, largest_step, migrate, populated, rebooked, resample
from sgais.smc.weights import Estimate


class Outright(NamedTuple):
    """Fresh particles of the posterior and the evidence that they give.

    Attributes:
        islands: The particles; nothing of the path is left in their evidence.
        num_steps: From the reference to the posterior; one means importance sampling.
    """

    islands: Islands
    num_steps: int


class _Sought(NamedTuple):
    """A posterior, the rows that it is of, and its modes."""

    posterior: Posterior
    data: Blocks
    found: Found


class _Draws(NamedTuple):
    """Draws of a reference and the logs of their weights."""

    positions: np.ndarray
    log_weights: np.ndarray

    @property
    def effective(self) -> float:
        """How many equal draws they are worth."""
        return effective_sample_size(self.log_weights)


class _Way(NamedTuple):
    """From a reference to the posterior of rows."""

    posterior: Posterior
    reference: Reference
    order: LabelOrder | None  # of the labels that particles keep to

    @property
    def log_images(self) -> float:
        """Log of the number of orders for which particles stand that keep to one."""
        return 0.0 if self.order is None else float(np.log(num_images(self.posterior.model)))

    def log_ratios(self, islands: Islands) -> np.ndarray:
        """Log of posterior over reference at every particle."""
        return self._log_ratios(islands.all_positions).reshape(islands.log_weights.shape)

    def log_ratios_at(self, positions: np.ndarray) -> np.ndarray:
        """The same at draws of the reference, (n, d); -inf where labels are in another order."""
        ratios = self._log_ratios(positions)
        if self.order is None:
            return ratios
        return np.where(are_in_order(self.posterior.model, positions, self.order), ratios, -np.inf)

    def _log_ratios(self, positions: np.ndarray) -> np.ndarray:
        log_references = references.log_densities(self.posterior.model, self.reference, positions)
        ratios = self.posterior.log_densities(positions) - log_references
        return np.where(np.isfinite(ratios), ratios, -np.inf)


def sample(
    context: UpdateContext, posterior: Posterior, exact: ExactPhase, islands: Islands, found: Found, of_all: AllRows
) -> Outright | None:
    """Anneal as many fresh draws of a reference to the posterior; None if that gets nowhere.

    Where rows are many, a sketch of them stands for all until the last weighing.

    Args:
        context: Of the update.
        posterior: Of all rows so far.
        exact: What these need to know.
        islands: The particles to which the reference is fitted.
        found: The modes of the posterior that are known.
        of_all: All rows so far.
    """
    model, generator = posterior.model, context.keys.generator()
    islands = migrate(islands, generator)[0]
    sketch = sketches.sketch(model, islands.all_positions, of_all, generator)
    if sketch is not None:
        sketched = _Sought(Posterior(model, [sketch.data]), sketch.data, found)
        on_sketch = _sample(context, sketched, exact, islands, generator)
        if on_sketch is not None:
            lacks = sketch.lacks(model, on_sketch.islands.all_positions, of_all)
            weighed = on_sketch.islands.reweighted(lacks)
            if ess_fraction(weighed.log_weights) > policy.SMALLEST_SKETCH_ESS:
                return on_sketch._replace(islands=weighed)
    return _sample(context, _Sought(posterior, packed(of_all), found), exact, islands, generator)


def _sample(
    context: UpdateContext, sought: _Sought, exact: ExactPhase, islands: Islands, generator: np.random.Generator
) -> Outright | None:
    model, positions, shape = context.model, islands.all_positions, islands.log_weights.shape
    positions, order = arranged(model, positions, positions[0], generator, full_data_hmc.SHARE_IN_ORDER)
    # Where labels overlap there is no telling at which of a mode's images particles are: their shape has to do.
    are_apart = order is not None or model.num_labels == 1
    modes = in_labelling(sought.posterior, sought.found, order) if are_apart else []
    if order is not None:
        modes = [image for mode in modes for image in images_in_order(model, mode, order, generator)]
    way = _Way(sought.posterior, references.fit(positions, modes), order)
    draws = _weighed_draws(way, len(positions), context.keys.seed, generator)
    at_once = _by_importance(way, draws)
    if at_once is not None and draws.effective >= len(positions):  # fewer would make copies of particles
        fresh, _ = populated(draws.positions, draws.log_weights, shape, at_once, generator)
        return Outright(fresh, 1)
    fresh = _in_order(model, Islands.of(draws.positions[: len(positions)].reshape(*shape, -1)), order, generator)

    def move(islands: Islands, power: float) -> Islands:
        nonlocal exact
        tempered = sought.data._replace(weights=power * sought.data.weights)
        tilt = Tilt(power, references.on_device(way.reference))
        exact, islands = _move(context, exact, islands, Density(tempered, order, tilt))
        return islands

    annealed = _anneal(way, fresh, move, generator)
    return annealed if annealed is None or at_once is None else _sharper(annealed, at_once)


def _weighed_draws(way: _Way, wanted: int, seed: int, generator: np.random.Generator) -> _Draws:
    """Draws of the reference: more of them where they are then worth as many equal ones as are wanted."""

    def drawn(count: int) -> _Draws:
        positions = references.draw(way.posterior.model, way.reference, count, seed, generator)
        return _Draws(positions, way.log_ratios_at(positions))

    count = max(policy.OUTRIGHT_DRAWS, wanted)
    draws = drawn(count)
    if draws.effective < wanted <= policy.MORE_DRAWS * draws.effective:
        more = drawn((policy.MORE_DRAWS - 1) * count)
        draws = _Draws(*(np.concatenate(both) for both in zip(draws, more, strict=True)))
    return draws


def _by_importance(way: _Way, draws: _Draws) -> Estimate | None:
    """Log Z by importance sampling alone, where its weights are good enough: many draws cost less than a few moves."""
    effective, tail = draws.effective, tail_shape(draws.log_weights)
    if effective < policy.FEWEST_EFFECTIVE or not tail < policy.LARGEST_SHAPE:
        return None
    error = np.sqrt(1 / effective - 1 / len(draws.log_weights) + unseen_tail(draws.log_weights, tail) ** 2)
    return Estimate(annealing.log_mean_exp(draws.log_weights) + way.log_images, float(error))


def _sharper(annealed: Outright, at_once: Estimate) -> Outright:
    """Particles that were annealed, and the better of two estimates: theirs or that of the draws they came from."""
    theirs = annealed.islands.estimate
    error = float(np.hypot(theirs.standard_error, at_once.standard_error))
    has_missed = theirs.log_evidence - at_once.log_evidence > policy.LARGEST_LACK + 3 * error
    if has_missed or at_once.standard_error > theirs.standard_error:
        return annealed
    return Outright(rebooked(annealed.islands, at_once), 1)


def _anneal(
    way: _Way, islands: Islands, move: Callable[[Islands, float], Islands], generator: np.random.Generator
) -> Outright | None:
    """From the reference to the posterior, in steps that keep the weights even."""
    power = 0.0
    for step in range(1, policy.OUTRIGHT_STEPS + 1):
        ratios = way.log_ratios(islands)
        rest = islands.reweighted((1 - power) * ratios)
        if ess_fraction(rest.log_weights) >= policy.OUTRIGHT_TARGET_ESS:
            return Outright(rest, step)
        if ess_fraction(np.where(np.isfinite(ratios), 0.0, -np.inf)) < policy.OUTRIGHT_TARGET_ESS:
            return None
        size = largest_step(islands.log_weights, ratios, 1 - power, policy.OUTRIGHT_TARGET_ESS)
        power += size
        islands, _ = resample(islands.reweighted(size * ratios), generator)
        islands = move(islands, power)
    return None


def _move(context: UpdateContext, exact: ExactPhase, islands: Islands, density: Density) -> tuple[ExactPhase, Islands]:
    kernel = context.config.early_kernel
    kernel = replace(kernel, num_trajectories=min(kernel.num_trajectories, policy.OUTRIGHT_TRAJECTORIES))
    key, positions = context.keys.next(), islands.all_positions.astype(real_dtype())
    moved, info = full_data_hmc.move(context.model, kernel, key, positions, density, exact.step_size, exact.precision)
    return exact._replace(step_size=np.asarray(info.step_size)), islands.with_positions(moved)


def _in_order(model: Model, islands: Islands, order: LabelOrder | None, generator: np.random.Generator) -> Islands:
    """Only those draws whose labels are in the given order; they stand for all orders, and their evidence says so."""
    if order is None:
        return islands
    inside = are_in_order(model, islands.all_positions, order)
    chosen, _ = resample(islands.reweighted(np.where(inside, 0.0, -np.inf)), generator)
    return chosen._replace(log_evidences=chosen.log_evidences + np.log(num_images(model)))
