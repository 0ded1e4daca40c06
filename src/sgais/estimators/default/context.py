"""What every phase of the default needs to take in a chunk."""

from typing import NamedTuple

from sgais.compute.random_keys import Places
from sgais.estimators.default.account import Account
from sgais.estimators.default.config import Config
from sgais.history import WithChunk
from sgais.models.base import Model


class UpdateContext(NamedTuple):
    """The same from the first row of a chunk to its last.

    Attributes:
        model: The model.
        config: The settings.
        rows: All rows, those of the chunk included.
        places: Where random numbers come from.
        account: Of what happens.
    """

    model: Model
    config: Config
    rows: WithChunk
    places: Places
    account: Account
