"""Moves on mini-batches: more rows where gradients are noisy, shorter steps where the temperature is too high."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sgais.estimators.default import policy
from sgais.estimators.default.diagnostics import UpdateDiagnostics
from sgais.kernels import Langevin, langevin


class StepSettings(NamedTuple):
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
    """Where particles are after a move, the settings at which it went, and its temperature."""

    positions: np.ndarray
    settings: StepSettings
    temperature: float


def move(
    attempt: Callable[[StepSettings], tuple[np.ndarray, langevin.Info]],
    kernel: Langevin,
    settings: StepSettings,
    limits: Limits,
    diagnostics: UpdateDiagnostics,
) -> Moved | None:
    """Attempt the move with these settings, then with gentler ones; None if none keeps its temperature low."""
    while settings.step_size >= policy.SHORTEST * kernel.step_size:
        positions, info = attempt(settings)
        if info.noise_share > limits.noise_share and policy.BATCH_GROWTH * settings.batch_size <= limits.batch:
            settings = settings._replace(batch_size=_enough_rows(settings.batch_size, float(info.noise_share), limits))
        elif info.noise_share > limits.bearable:
            return None
        elif info.num_non_finite > 0 or not info.kinetic_temperature < policy.LARGEST_TEMPERATURE:
            settings = settings._replace(step_size=policy.SHORTEN * settings.step_size)
            diagnostics.num_non_finite += int(info.num_non_finite)
        else:
            temperature = float(info.kinetic_temperature)
            diagnostics.num_moves += 1
            diagnostics.temperatures.append(temperature)
            return Moved(positions, settings, temperature)
    return None


def temperature_bias(temperature: float, log_weights: np.ndarray, energies: np.ndarray) -> float:
    """The error of log Z from excess kinetic temperature, to first order: (T - 1) Cov(log weight, energy)."""
    usable = np.isfinite(log_weights)
    covariance = np.mean(
        (log_weights[usable] - log_weights[usable].mean()) * (energies[usable] - energies[usable].mean())
    )
    return (temperature - 1.0) / temperature**2 * float(covariance)


def _enough_rows(batch_size: int, noise_share: float, limits: Limits) -> int:
    """The next batch size that should bring the gradient's noise below its bound."""
    needed = batch_size * noise_share / limits.noise_share
    while policy.BATCH_GROWTH * batch_size <= limits.batch:
        batch_size *= policy.BATCH_GROWTH
        if batch_size >= needed:
            break
    return batch_size
