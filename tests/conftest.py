"""What several test files need."""

import jax
import pytest


@pytest.fixture
def compilations():
    """Counts what XLA compiles, whoever asks for it."""
    names = []

    def note(event, duration, **_):
        if event == "/jax/core/compile/backend_compile_duration":
            names.append(event)

    jax.monitoring.register_event_duration_secs_listener(note)
    yield names
    jax.monitoring.unregister_event_duration_listener(note)
