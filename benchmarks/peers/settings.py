"""How much is run: the quick version and the full one."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """A version of the benchmark.

    Attributes:
        rows: Sizes of the data, rising.
        limit: Seconds that a run may take, after what it compiles before.
        seeds: Runs of each method that is not slow.
        slow: Seconds after which a run is not repeated, and the next size not begun: ten times the rows take at least
            three times as long.
        problems: Names of `problems.PROBLEMS`.
    """

    rows: tuple[int, ...]
    limit: float
    seeds: int
    slow: float = 180.0
    problems: tuple[str, ...] = ("linear", "logistic", "mixture")


QUICK = Settings(rows=(10_000,), limit=20.0, seeds=1, problems=("linear",))
FULL = Settings(rows=(10_000, 100_000, 1_000_000), limit=600.0, seeds=3)
