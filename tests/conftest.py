"""What several test files need."""

import jax
import pytest


@pytest.fixture
def compilations():
    """Counts the programs that are made for XLA, whether it compiles them or finds them on disk."""
    names = []

    def note(event, duration, **_):
        if event == "/jax/core/compile/jaxpr_to_mlir_module_duration":
            names.append(event)

    jax.monitoring.register_event_duration_secs_listener(note)
    yield names
    jax.monitoring.unregister_event_duration_listener(note)
