"""The numbers of the service in the text format of Prometheus."""

import math
import platform
from collections.abc import Iterator
from typing import Any

import jax

import sgais

BUILD = {"version": sgais.__version__, "python": platform.python_version(), "jax": jax.__version__}
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

# name, kind, what it is, entry of the state
NUMBERS = (
    ("rows_total", "counter", "Rows that the models have processed.", "num_rows"),
    ("alarms_total", "counter", "Changes of the data that were noticed.", "num_alarms"),
    ("rows_per_second", "gauge", "Rows processed per second, lately.", "rows_per_second"),
    ("resident_memory_bytes", "gauge", "Memory of the process.", "memory_bytes"),
    ("rows_accepted_total", "counter", "Rows acknowledged since the stream began.", "rows_accepted"),
    ("rows_waiting", "gauge", "Rows acknowledged, but not yet processed.", "rows_waiting"),
    ("checkpoint_rows", "gauge", "Rows in the newest checkpoint.", "rows_saved"),
    ("rows_set_aside_total", "counter", "Rows that were set aside.", "rows_set_aside"),
    ("log_bytes", "gauge", "Size of the write-ahead log.", "log_bytes"),
    ("readers", "gauge", "Clients that listen to events.", "num_readers"),
    ("connections_dropped_total", "counter", "Connections that said nothing, let go since the start.", "num_let_go"),
    ("batches_total", "counter", "Batches accepted since the start.", "num_batches"),
    ("duplicates_total", "counter", "Batches that had been accepted before, since the start.", "num_duplicates"),
    ("messages_set_aside_total", "counter", "Messages that no model could take.", "num_messages_set_aside"),
)
OF_MODELS = (
    ("log_evidence", "log Z of all rows so far, in nats."),
    ("standard_error", "Monte Carlo error of log Z."),
    ("kernel_bias", "Error of log Z from excess kinetic temperature of the moves, as estimated."),
    ("mode_doubt", "Nats by which modes that no particle has seen might change log Z."),
    ("is_warned", "1 where a warning says that log Z should not be trusted."),
    ("probability", "Of the model, given all rows."),
    ("annealing_steps", "Of the newest chunk."),
)


def prometheus(state: dict[str, Any]) -> str:
    """The metrics of a state."""
    return "".join(line + "\n" for line in _lines(state))


def _lines(state: dict[str, Any]) -> Iterator[str]:
    yield from _family("build_info", "gauge", "1, with the versions that run.")
    build = ",".join(f'{name}="{_escaped(version)}"' for name, version in BUILD.items())
    yield f"sgais_build_info{{{build}}} 1"
    for name, kind, help_text, entry in NUMBERS:
        if entry in state:
            yield from _family(name, kind, help_text)
            yield f"sgais_{name} {_number(state[entry])}"
    yield from _family("refused_total", "counter", "Requests answered with an error, by status, since the start.")
    for status, count in sorted(state.get("num_refused", {}).items()):
        yield f'sgais_refused_total{{status="{status}"}} {count}'
    for name, help_text in OF_MODELS:
        yield from _family(name, "gauge", help_text)
        for model in state["models"]:
            yield f'sgais_{name}{{model="{_escaped(model["name"])}"}} {_number(model[name])}'


def _family(name: str, kind: str, help_text: str) -> list[str]:
    return [f"# HELP sgais_{name} {help_text}", f"# TYPE sgais_{name} {kind}"]


def _number(value: float | None) -> str:
    return "NaN" if value is None or math.isnan(value) else repr(float(value))


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
