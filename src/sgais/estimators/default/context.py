"""What every phase of the default needs to take in a chunk."""

from typing import NamedTuple

from sgais.compute.random_keys import KeySequence
from sgais.estimators.default.config import Config
from sgais.estimators.default.diagnostics import UpdateDiagnostics
from sgais.history import RowView
from sgais.models.base import Model


class UpdateContext(NamedTuple):
    """The same from the first row of a chunk to its last.

    Attributes:
        model: The model.
        config: The settings.
        rows: All rows, those of the chunk included.
        keys: Of the random numbers.
        diagnostics: Of what happens.
    """

    model: Model
    config: Config
    rows: RowView
    keys: KeySequence
    diagnostics: UpdateDiagnostics
