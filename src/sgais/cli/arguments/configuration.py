"""A configuration from names and values, those of its kernels included."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from sgais.cli.arguments.assignments import nearest
from sgais.errors import ConfigError


def build_config(config: Any, changes: Mapping[str, Any]) -> Any:
    """The configuration with changes; `kernel.num_steps` is the `num_steps` of its `kernel`."""
    known = [field.name for field in dataclasses.fields(config)]
    direct: dict[str, Any] = {}
    nested: dict[str, dict[str, Any]] = {}
    for name, value in changes.items():
        first, _, rest = name.partition(".")
        if first not in known:
            raise ConfigError(
                f"`--set` must name a parameter of {type(config).__name__}, got {first!r}. {nearest(first, known)}"
            )
        if rest:
            nested.setdefault(first, {})[rest] = value
        else:
            direct[first] = tuple(value) if isinstance(value, list) else value
    for first, inner in nested.items():
        part = getattr(config, first)
        if not dataclasses.is_dataclass(part):
            raise ConfigError(f"`--set` must name a parameter, got {first!r} with parts, but it has none.")
        direct[first] = build_config(part, inner)
    try:
        return dataclasses.replace(config, **direct)
    except TypeError as error:
        raise ConfigError(f"`--set` must give values of the right type, got {dict(changes)}: {error}.") from error
