"""The errors a user can meet. Every message reads: `name` must <rule>, got <value>. <What to do>."""

import numpy as np


class SgaisError(Exception):
    """Base of every error that this library raises on purpose."""


class ConfigError(SgaisError, ValueError):
    """An argument or a configuration value is out of range."""


class DataError(SgaisError, ValueError):
    """A chunk of data was refused; nothing that was computed before it is lost."""


class ModelError(SgaisError, ValueError):
    """A model does not keep its contract: its shapes, its prior or its log-likelihood."""


class EstimationError(SgaisError, RuntimeError):
    """The estimate cannot continue with this chunk; the state before it is kept."""


class CheckpointError(SgaisError, RuntimeError):
    """A checkpoint could not be written or read; what is running continues as it was."""


class HistoryError(SgaisError, RuntimeError):
    """Rows could not be added to the past; it is as if it had not been tried."""


def is_number(value: object) -> bool:
    """Whether something is a real number; True and False are none."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def require_count(name: str, value: object, smallest: int = 1) -> None:
    """Check an argument that counts something."""
    is_count = isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= smallest
    require(bool(is_count), name, f"be a whole number of at least {smallest}", value)


def require(holds: bool, name: str, rule: str, value: object, cure: str = "") -> None:
    """Raise a `ConfigError` that names the argument, the rule and the cure, unless the rule holds."""
    if not holds:
        raise ConfigError(f"`{name}` must {rule}, got {value!r}. {cure}".rstrip())
