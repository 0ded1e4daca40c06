"""What determines an estimate by importance sampling."""

from dataclasses import dataclass

from sgais.errors import require_count


@dataclass(frozen=True)
class ImportanceConfig:
    """Parameters of the estimator.

    Attributes:
        num_draws: Draws around the mode; errors are about one over the square root of half of them.
    """

    num_draws: int = 512

    def __post_init__(self) -> None:
        require_count("num_draws", self.num_draws, smallest=64)
