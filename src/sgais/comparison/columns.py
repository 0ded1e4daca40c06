"""Models that are compared read the same rows."""

from collections.abc import Mapping

from sgais.errors import ConfigError
from sgais.models.base import ModelLike
from sgais.models.reading import ReadingModel


def check_columns(models: Mapping[str, ModelLike]) -> None:
    """Models that say what they want must want the same."""
    reads = {name: isinstance(model, ReadingModel) for name, model in models.items()}
    if any(reads.values()) and not all(reads.values()):
        other = next(name for name, does in reads.items() if not does)
        raise ConfigError(
            f"`models` must all be formulas or all take rows as they are, got {other!r} beside formulas. "
            "Compare formulas with formulas, or write them as NumPyro models."
        )
    wanted = {name: model.fields for name, model in models.items() if model.fields}
    for name, fields in wanted.items():
        first = next(iter(wanted))
        if fields != wanted[first]:
            raise ConfigError(
                f"`models` must want the same columns, got {wanted[first]} for {first!r} and {fields} for {name!r}. "
                "Give them the same rows, e.g. LinearRegression(dim=5, features=(0, 1)) for some of five features."
            )
