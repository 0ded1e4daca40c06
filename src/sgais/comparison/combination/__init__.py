"""Weights of models in predictions: by evidence, with forgetting, or by stacking."""

from sgais.comparison.combination.base import ChunkScores, Combination
from sgais.comparison.combination.discounting import Discounting
from sgais.comparison.combination.evidence import Evidence, FixedShare
from sgais.comparison.combination.stacking import Stacking
from sgais.errors import ConfigError, require

EVIDENCE, FORGETTING, STACKING = "evidence", "forgetting", "stacking"

__all__ = ["ChunkScores", "Combination", "combination_of"]


def combination_of(combine: str, forgetting: float, seed: int) -> Combination:
    """What `Comparison(combine=..., forgetting=...)` asks for."""
    require(combine in (EVIDENCE, FORGETTING, STACKING), "combine", "be evidence, forgetting or stacking", combine)
    if combine == STACKING:
        if forgetting:
            raise ConfigError(f"`forgetting` must be left out when models are stacked, got {forgetting!r}.")
        return Stacking(seed)
    if forgetting:
        return FixedShare(forgetting)
    return Discounting() if combine == FORGETTING else Evidence()
