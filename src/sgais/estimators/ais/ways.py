"""The ways to the posterior that particles are annealed along: from the prior, or from a reference fitted to particles.

Either is start^(1 - power) posterior^power, with a start that can be drawn from and integrates to one.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, Protocol

import jax
import numpy as np

from sgais.approximation import reference as references
from sgais.approximation.reference import Reference
from sgais.compute import likelihood
from sgais.compute.blocks import Blocks
from sgais.compute.label_symmetry import LabelOrder, are_in_order, arranged, num_images
from sgais.compute.positions import log_priors
from sgais.compute.prior_draws import draw_prior
from sgais.compute.random_keys import random_key
from sgais.estimators import full_data_hmc
from sgais.estimators.full_data_hmc import Density, Tilt
from sgais.kernels import HMC
from sgais.models.base import Model, real_dtype
from sgais.smc.weights import require_numbers

WIDER = 3.0  # covariance of the reference over that of the particles
FITTING = 3  # names the random numbers of fit and draws
DRAWS = 4  # for each particle, where only those in the order of the labels are kept


class MoveInfo(NamedTuple):
    """What a move of either kernel tells; NaN for what it does not have."""

    acceptance: float
    kinetic_temperature: float
    num_non_finite: int


Move = Callable[[np.ndarray, jax.Array | np.ndarray, float], tuple[jax.Array | np.ndarray, MoveInfo]]


class Start(NamedTuple):
    """Draws from where a way begins.

    Attributes:
        positions: Shape (particles, d).
        log_mass: Log of the part of the posterior that they stand for: of all its images, where labels keep an order.
        variance: Of that.
    """

    positions: jax.Array | np.ndarray
    log_mass: float = 0.0
    variance: float = 0.0


class Way(Protocol):
    """From a start to the posterior."""

    number: int  # names its random numbers
    move: Move

    def draw(self, count: int, seed: int) -> Start:
        """Particles at the start."""

    def log_ratios(self, positions: jax.Array | np.ndarray) -> np.ndarray:
        """Log of posterior over start, in float64."""


class FromPrior:
    """The way of annealed importance sampling as it is in the books: the ratio is the likelihood."""

    number = 1

    def __init__(self, model: Model, data: Blocks, move: Move) -> None:
        self.move = move
        self._model, self._data, self._has_begun = model, data, False

    def draw(self, count: int, seed: int) -> Start:
        """From the prior."""
        return Start(draw_prior(self._model, count, random_key(seed, 0, 0)))

    def log_ratios(self, positions: jax.Array | np.ndarray) -> np.ndarray:
        """The log-likelihood, which has to be a number at draws from the prior."""
        found = likelihood.log_likelihoods(self._model, positions, [self._data])
        if not self._has_begun:
            require_numbers(found)
        self._has_begun = True
        return found


class FromReference:
    """From a Student t that is shaped like particles, with a share of the prior.

    Where labels tell components apart, particles keep to one order of them and stand for all.
    """

    number = 2

    def __init__(
        self, model: Model, data: Blocks, kernel: HMC, precision: jax.Array, particles: np.ndarray, seed: int
    ) -> None:
        generator = np.random.default_rng(random_key(seed, FITTING, 0))
        particles = np.asarray(particles, np.float64)
        particles, self._order = arranged(model, particles, particles[0], generator, full_data_hmc.SHARE_IN_ORDER)
        self._model, self._data, self._generator = model, data, generator
        self._reference = _fit(particles)
        self.move: Move = HMCMove(model, data, kernel, precision, self._order, self._reference)

    def draw(self, count: int, seed: int) -> Start:
        """From the reference."""
        if self._order is None:
            return Start(references.draw(self._model, self._reference, count, seed, self._generator))
        drawn = references.draw(self._model, self._reference, DRAWS * count, seed, self._generator)
        inside = are_in_order(self._model, drawn, self._order)
        share = max(inside.mean(), 1 / len(drawn))
        kept = np.resize(drawn[inside] if inside.any() else drawn, (count, drawn.shape[1]))
        return Start(kept, float(np.log(share * num_images(self._model))), (1 - share) / (share * len(drawn)))

    def log_ratios(self, positions: jax.Array | np.ndarray) -> np.ndarray:
        """Log of posterior over reference."""
        found = likelihood.log_likelihoods(self._model, positions, [self._data]) + log_priors(self._model, positions)
        return found - references.log_densities(self._model, self._reference, np.asarray(positions, np.float64))


def _fit(particles: np.ndarray) -> Reference:
    """Wider than the particles: moves bring in at once who is too far out, but not in time to where nobody was."""
    centre = particles.mean(axis=0)
    return references.fit(centre + np.sqrt(WIDER) * (particles - centre), [])


class HMCMove:
    """HMC whose step sizes continue from one intermediate distribution to the next."""

    def __init__(
        self,
        model: Model,
        data: Blocks,
        kernel: HMC,
        precision: jax.Array,
        order: LabelOrder | None = None,
        reference: Reference | None = None,
    ) -> None:
        self._move = partial(full_data_hmc.move, model, kernel)
        self._data, self._precision, self._order = data, precision, order
        self._reference = None if reference is None else references.on_device(reference)
        self._step_sizes = full_data_hmc.FIRST_STEP_SIZES

    def __call__(self, key: np.ndarray, positions: jax.Array | np.ndarray, power: float) -> tuple[np.ndarray, MoveInfo]:
        """Move the particles at a power of the posterior."""
        tempered = self._data._replace(weights=power * self._data.weights)
        tilt = None if self._reference is None else Tilt(power, self._reference)
        density = Density(tempered, self._order, tilt)
        positions = np.asarray(positions, real_dtype())
        moved, info = self._move(key, positions, density, self._step_sizes, self._precision)
        self._step_sizes = np.asarray(info.step_size)
        return moved, MoveInfo(float(info.acceptance), float("nan"), int(info.num_non_finite))
