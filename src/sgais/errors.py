"""The errors a user can meet. Every message reads: `name` must <rule>, got <value>. <What to do>."""

import numpy as np


class SgaisError(Exception):
    """Base of every error that this library raises on purpose.

    Example:
        >>> try:
        ...     sgais.Config(num_particles=3)
        ... except sgais.SgaisError as error:
        ...     print(error)
        `num_particles` must be a multiple of num_islands = 8, got 3.
    """


class ConfigError(SgaisError, ValueError):
    """An argument or a configuration value is out of range.

    Example:
        >>> sgais.models.LinearRegression(dim=0)
        Traceback (most recent call last):
            ...
        sgais.errors.ConfigError: `dim` must be a whole number of at least 1, got 0.
    """


class DataError(SgaisError, ValueError):
    """A chunk of data was refused; nothing that was computed before it is lost.

    Example:
        >>> evidence = sgais.OnlineEvidence(sgais.models.LinearRegression(dim=1))
        >>> try:
        ...     evidence.update({"x": [[1.0]], "y": [float("nan")]})
        ... except sgais.DataError:
        ...     print("refused:", evidence.num_rows, "rows as before")
        refused: 0 rows as before
    """


class ModelError(SgaisError, ValueError):
    """A model does not keep its contract: its shapes, its prior or its log-likelihood.

    Example:
        >>> sgais.Model(prior={}, log_likelihood=lambda parameters, rows: 0.0)
        Traceback (most recent call last):
            ...
        sgais.errors.ModelError: `prior` must name at least one parameter, got none.
    """


class EstimationError(SgaisError, RuntimeError):
    """The estimate cannot continue with this chunk; the state before it is kept.

    Example:
        >>> issubclass(sgais.EstimationError, sgais.SgaisError)  # one `except` catches all of them
        True
    """


class CheckpointError(SgaisError, RuntimeError):
    """A checkpoint could not be written or read; what is running continues as it was.

    Example:
        >>> sgais.OnlineEvidence.load("nothing.ckpt", sgais.models.LinearRegression(dim=1))
        Traceback (most recent call last):
            ...
        sgais.errors.CheckpointError: ...
    """


class HistoryError(SgaisError, RuntimeError):
    """Rows could not be added to the past; it is as if it had not been tried.

    Example:
        >>> issubclass(sgais.HistoryError, RuntimeError)  # a full disk, say
        True
    """


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
