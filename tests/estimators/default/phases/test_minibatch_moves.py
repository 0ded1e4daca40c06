"""Moves on mini-batches, kept near a kinetic temperature of 1."""

import numpy as np
import pytest

from sgais.estimators.default.diagnostics import UpdateDiagnostics
from sgais.estimators.default.phases import minibatch_moves
from sgais.kernels import Langevin, langevin

KERNEL, LIMITS = Langevin(), minibatch_moves.Limits(batch=5000, noise_share=0.25)


def attempts(noise_at_256=0.0, temperature_at_half=1.0):
    """Moves whose noise falls with the rows, and whose excess temperature falls with the step."""
    tried = []

    def attempt(settings):
        tried.append(settings)
        noise = noise_at_256 * 256 / settings.batch_size
        temperature = 1 + (temperature_at_half - 1) * (settings.step_size / 0.5) ** 2
        return np.zeros((2, 3)), langevin.Info(temperature, noise, 0)

    return attempt, tried


def test_a_batch_grows_until_its_noise_is_within_bounds():
    attempt, tried = attempts(noise_at_256=1.5)
    moved = minibatch_moves.move(attempt, KERNEL, minibatch_moves.StepSettings(256, 0.5), LIMITS, UpdateDiagnostics())
    assert [settings.batch_size for settings in tried] == [256, 4096]
    assert moved.settings == minibatch_moves.StepSettings(4096, 0.5)


@pytest.mark.parametrize(
    ("noise_left", "bearable", "is_made"), [(0.6, 1.0, True), (0.6, 0.25, False), (1.2, 1.0, False)]
)
def test_a_move_that_no_batch_makes_quiet_is_made_if_it_can_be_borne(noise_left, bearable, is_made):
    attempt, tried = attempts(noise_at_256=16 * noise_left)
    moved = minibatch_moves.move(
        attempt, KERNEL, minibatch_moves.StepSettings(256, 0.5), LIMITS._replace(bearable=bearable), UpdateDiagnostics()
    )
    assert [settings.batch_size for settings in tried] == [256, 4096]
    assert (moved is not None) == is_made


def test_a_step_shrinks_until_it_is_cool_or_too_short():
    diagnostics = UpdateDiagnostics()
    attempt, _ = attempts(temperature_at_half=1.15)
    moved = minibatch_moves.move(attempt, KERNEL, minibatch_moves.StepSettings(256, 0.5), LIMITS, diagnostics)
    assert moved.settings == minibatch_moves.StepSettings(256, 0.35)
    assert diagnostics.temperatures == [moved.temperature]
    attempt, _ = attempts(temperature_at_half=3.0)
    assert minibatch_moves.move(attempt, KERNEL, minibatch_moves.StepSettings(256, 0.5), LIMITS, diagnostics) is None
    assert diagnostics.num_moves == 1


def test_the_bias_of_particles_that_are_too_hot():
    """Gaussian particles of temperature T, weighed by a likelihood whose evidence is known at any temperature."""
    dimension, share, temperature = 50, 0.02, 1.03
    squares = temperature * np.random.default_rng(0).chisquare(dimension, 200_000)
    found = minibatch_moves.temperature_bias(temperature, -0.5 * share * squares, 0.5 * squares)
    exact = -0.5 * dimension * (np.log1p(share * temperature) - np.log1p(share))
    assert found == pytest.approx(exact, rel=0.1)
