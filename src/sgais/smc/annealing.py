"""The sequence of inverse temperatures (section 3 of the paper).

All of it is arithmetic on a few numbers per particle: NumPy, float64, on the host.
"""

from collections.abc import Callable

import numpy as np

from sgais.errors import EstimationError, require, require_count
from sgais.smc.effective_sample_size import effective_sample_size

__all__ = [
    "effective_sample_size",
    "largest_step",
    "linear_schedule",
    "log_mean_exp",
    "next_inverse_temperature",
    "sigmoidal_schedule",
]

RELATIVE_TOLERANCE = 1e-6  # of the solved temperature step


def log_mean_exp(log_values: np.ndarray) -> float:
    """Log of the mean of exp(log_values); -inf where all are.

    Example:
        >>> round(sgais.annealing.log_mean_exp(np.log([1.0, 3.0])), 4)  # log of 2
        0.6931
    """
    top = float(np.max(log_values))
    if not np.isfinite(top):
        return top
    return top + float(np.log(np.mean(np.exp(log_values - top))))


def next_inverse_temperature(log_likelihoods: np.ndarray, inverse_temperature: float, target_fraction: float) -> float:
    """The next inverse temperature, at which the incremental weights' ESS falls to its target (line 6).

    Returns exactly 1.0 if the rest of the way keeps the ESS above the target, so that a step taken from the
    difference of two returned values is never taken beyond 1.

    Args:
        log_likelihoods: Of the new chunk, one per particle; -inf for a particle that rules the chunk out.
        inverse_temperature: The present one, below 1.
        target_fraction: Target ESS over the number of particles. Particles at -inf have weight zero at any
            temperature, so the target is taken over the others.

    Example:
        >>> log_likelihoods = np.random.default_rng(0).normal(0.0, 10.0, size=100)
        >>> step = sgais.annealing.next_inverse_temperature(log_likelihoods, 0.0, target_fraction=0.5)
        >>> 0.0 < step < 1.0
        True
    """
    possible = log_likelihoods[np.isfinite(log_likelihoods)]
    target = target_fraction * len(possible)
    remaining = 1.0 - inverse_temperature
    if effective_sample_size(remaining * possible) >= target:
        return 1.0
    step = largest_step(lambda step: effective_sample_size(step * possible) >= target, remaining)
    found = inverse_temperature + step
    if found <= inverse_temperature:
        raise EstimationError(
            f"the annealing of this chunk is stuck at inverse temperature {inverse_temperature!r}: the particles' "
            f"log-likelihoods differ by {np.ptp(possible):.3g}. If they have "
            "diverged, a smaller learning rate or rescaled data will help; otherwise push smaller chunks."
        )
    return found


def largest_step(is_small_enough: Callable[[float], bool], remaining: float) -> float:
    """The largest step of the inverse temperature that is small enough, by bisection, where `remaining` is not.

    Example:
        >>> round(sgais.annealing.largest_step(lambda step: step < 0.25, remaining=1.0), 3)
        0.25
    """
    low, high = 0.0, remaining
    while high - low > RELATIVE_TOLERANCE * high:
        middle = 0.5 * (low + high)
        if is_small_enough(middle):
            low = middle
        else:
            high = middle
    return low


def linear_schedule(num_steps: int) -> tuple[float, ...]:
    """Inverse temperatures 1/T, 2/T, ..., 1.

    Example:
        >>> sgais.annealing.linear_schedule(4)
        (0.25, 0.5, 0.75, 1.0)
    """
    require_count("num_steps", num_steps)
    return (*(np.arange(1, num_steps) / num_steps).tolist(), 1.0)


def sigmoidal_schedule(num_steps: int, delta: float = 4.0) -> tuple[float, ...]:
    """Grosse's schedule sigma(delta (2t/T - 1)), t = 1, ..., T, shifted and scaled to run from 0 to 1.

    Example:
        >>> [round(step, 2) for step in sgais.annealing.sigmoidal_schedule(4)]
        [0.1, 0.5, 0.9, 1.0]
    """
    require_count("num_steps", num_steps)
    require(delta > 0, "delta", "be positive", delta)
    raw = 1.0 / (1.0 + np.exp(-delta * (2.0 * np.arange(num_steps + 1) / num_steps - 1.0)))
    scaled = (raw - raw[0]) / (raw[-1] - raw[0])
    return (*scaled[1:-1].tolist(), 1.0)
