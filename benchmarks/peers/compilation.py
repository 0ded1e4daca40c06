"""How long JAX compiles: traces, lowers, compiles. A trace within a trace is counted once."""

import time

import jax.monitoring

COMPILATION = "/jax/core/compile/"


class CompilationClock:
    """Counts from when it is made. JAX keeps it for good, so one process should make one."""

    def __init__(self) -> None:
        self._spans: list[tuple[float, float]] = []
        jax.monitoring.register_event_duration_secs_listener(self._note)

    def seconds(self, since: float = 0.0) -> float:
        """Time of compilation after `since`, a time of `time.perf_counter`."""
        total, reached = 0.0, since
        for start, end in sorted(self._spans):
            total += max(end - max(start, reached), 0.0)
            reached = max(reached, end)
        return total

    def _note(self, event: str, duration_secs: float, **kwargs: str | int) -> None:  # noqa: ARG002 - JAX passes more
        if event.startswith(COMPILATION):
            now = time.perf_counter()
            self._spans.append((now - duration_secs, now))
