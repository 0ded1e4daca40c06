"""Moves on mini-batches, kept cool: more rows where gradients are noisy, shorter steps where particles are hot."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sgais.estimators.default.account import Account
from sgais.kernels import Langevin, langevin

BATCH_GROWTH = 4  # few sizes, few compilations
HOT = 1.1  # kinetic temperature at which the step is shortened
SHORTEN = 0.7
SHORTEST = 0.5  # of the kernel's step: below it moves hardly get anywhere


class Pace(NamedTuple):
    """How a move goes about it.

    Attributes:
        batch_size: Rows per mini-batch.
        step_size: In whitened coordinates.
    """

    batch_size: int
    step_size: float


class Limits(NamedTuple):
    """What is too much.

    Attributes:
        batch: Rows per mini-batch.
        noise_share: Of the gradient's noise in all noise of the dynamics: beyond it, batches grow.
        bearable: The same: beyond it, though batches have grown, the move is given up. Up to 1 it is made up for.
    """

    batch: int
    noise_share: float
    bearable: float = 1.0


class Moved(NamedTuple):
    """Where particles are after a move, the pace at which it went, and its temperature."""

    positions: np.ndarray
    pace: Pace
    temperature: float


def move(
    attempt: Callable[[Pace], tuple[np.ndarray, langevin.Info]],
    kernel: Langevin,
    pace: Pace,
    limits: Limits,
    account: Account,
) -> Moved | None:
    """Attempt the move at this pace, then at gentler ones; None if none of them keeps it cool."""
    while pace.step_size >= SHORTEST * kernel.step_size:
        positions, info = attempt(pace)
        if info.noise_share > limits.noise_share and BATCH_GROWTH * pace.batch_size <= limits.batch:
            pace = pace._replace(batch_size=_enough_rows(pace.batch_size, float(info.noise_share), limits))
        elif info.noise_share > limits.bearable:
            return None
        elif info.num_non_finite > 0 or not info.kinetic_temperature < HOT:
            pace = pace._replace(step_size=SHORTEN * pace.step_size)
            account.num_non_finite += int(info.num_non_finite)
        else:
            temperature = float(info.kinetic_temperature)
            account.num_moves += 1
            account.temperatures.append(temperature)
            return Moved(positions, pace, temperature)
    return None


def bias_of_heat(temperature: float, log_weights: np.ndarray, energies: np.ndarray) -> float:
    """The error in log Z of particles that are too hot, to first order: (T - 1) Cov(log weight, energy)."""
    usable = np.isfinite(log_weights)
    covariance = np.mean(
        (log_weights[usable] - log_weights[usable].mean()) * (energies[usable] - energies[usable].mean())
    )
    return (temperature - 1.0) / temperature**2 * float(covariance)


def _enough_rows(batch_size: int, noise_share: float, limits: Limits) -> int:
    """The next batch size that should bring the gradient's noise below its bound."""
    needed = batch_size * noise_share / limits.noise_share
    while BATCH_GROWTH * batch_size <= limits.batch:
        batch_size *= BATCH_GROWTH
        if batch_size >= needed:
            break
    return batch_size
