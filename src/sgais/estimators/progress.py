"""How a long run tells where it is; what is done with that (a bar, a log, nothing) is the caller's business."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias


class Progress(NamedTuple):
    """Where a run is.

    Attributes:
        fraction: The part of the work that is done, 0 to 1, as far as can be told.
        seconds_left: The estimated time to the end; NaN while nothing can be said.
        message: A few words for a person.
    """

    fraction: float
    seconds_left: float
    message: str


Report: TypeAlias = Callable[[Progress], None]


def silent(_: Progress) -> None:
    """Report nothing."""
