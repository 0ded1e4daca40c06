"""Text of the form `name=value` on the command line."""

import difflib
import tomllib
from collections.abc import Iterable, Sequence
from typing import Any

from sgais.errors import ConfigError


def lists(option: str, texts: Sequence[str]) -> dict[str, list[str]]:
    """`x=a,b` as {"x": ["a", "b"]}."""
    return {name: value.split(",") for name, value in _pairs(option, texts)}


def values(option: str, texts: Sequence[str]) -> dict[str, Any]:
    """`num_particles=256` as {"num_particles": 256}: values as TOML has them, or else text."""
    return {name: value_of(value) for name, value in _pairs(option, texts)}


def value_of(text: str) -> Any:
    """A number, a truth value or a list where the text is one; else the text itself."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint for a name that is not among those known."""
    names = list(known)
    near = difflib.get_close_matches(name, names, n=2, cutoff=0.5)
    return f"Did you mean {' or '.join(map(repr, near))}?" if near else f"There are {', '.join(map(repr, names))}."


def _pairs(option: str, texts: Sequence[str]) -> list[tuple[str, str]]:
    pairs = [text.partition("=") for text in texts]
    for name, sign, value in pairs:
        if not (name and sign and value):
            raise ConfigError(f"`{option}` must read NAME=VALUE, got {name + sign + value!r}.")
    return [(name, value) for name, _, value in pairs]
