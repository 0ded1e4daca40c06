"""One run: what determines its result, and nothing else."""

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

from benchmarks.peers.methods import METHODS

FORMAT = 1  # of cached runs; raise it when the same task no longer means the same run
ROOT = Path(__file__).parents[2]
ENVIRONMENTS = Path(__file__).parent / "environments"


@dataclass(frozen=True)
class Task:
    """A run to be made.

    Attributes:
        problem: A name of `problems.PROBLEMS`.
        method: A name of `methods.METHODS`.
        rows: How many of the data are seen.
        seed: Of the estimate; the data have their own.
    """

    problem: str
    method: str
    rows: int
    seed: int

    @property
    def key(self) -> str:
        """A short name that no other run has, nor this one after a change of the code or the versions behind it."""
        method = METHODS[self.method]
        origin = _lock(method.environment) if method.is_peer else _source()
        text = json.dumps([FORMAT, asdict(self), asdict(method), origin], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def __str__(self) -> str:
        return f"{self.problem}, {self.rows:,} rows, {self.method}, seed {self.seed}"


def lock_of(environment: str) -> Path:
    """The versions of a peer's environment."""
    return ENVIRONMENTS / f"{environment}.txt"


def _lock(environment: str) -> str:
    return lock_of(environment).read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def _source() -> str:
    """A fingerprint of the library: when it changes, our own methods are measured again."""
    digest = hashlib.sha256()
    for path in sorted((ROOT / "src" / "sgais").rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
