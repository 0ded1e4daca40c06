"""The segments of one model: many by importance sampling at once, those that it cannot do one by one.

Draws around one mode serve wherever a posterior has one and is not too odd; the tail of their weights says whether
they do. A segment of which that is not so, and every segment of a model with labels that mean nothing or with many
parameters, has an `OnlineEvidence` of its own.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from sgais.changepoints.importance import Segments, begun, with_chunk
from sgais.compute.positions import unconstrain
from sgais.compute.random_keys import named_seed
from sgais.estimators.default.config import Config
from sgais.fields import Chunk
from sgais.history import History, RowView, Until
from sgais.history.past import Since
from sgais.models.base import Model
from sgais.online import OnlineEvidence
from sgais.results.step import Step
from sgais.smc.weights import normalised

LARGEST_DIMENSION = 60  # of models whose segments are taken together


class BankStep(NamedTuple):
    """What a chunk does to a bank, before it is accepted.

    Attributes:
        segments: Those that are taken together.
        alone: Those that are not, by their first rows, with what the chunk did to them.
        log_evidences: Of all of them, by their first rows.
        errors: Standard errors of these.
        warnings: What speaks against them.
    """

    segments: Segments
    alone: dict[int, tuple[OnlineEvidence, Step]]
    log_evidences: dict[int, float]
    errors: dict[int, float]
    warnings: dict[int, str]


class Bank:
    """Segments that begin at different rows, all under one model.

    Args:
        model: The model.
        config: Of the estimator of segments that are taken alone.
        seed: Determines every random number.
    """

    def __init__(self, model: Model, config: Config, seed: int) -> None:
        self.model, self._config, self._seed = model, config, seed
        self._is_simple = model.num_labels == 1 and model.dimension <= LARGEST_DIMENSION
        self._segments = Segments.none(model.dimension)
        self._alone: dict[int, OnlineEvidence] = {}

    def weigh(self, history: History, chunk: Chunk) -> BankStep:
        """What a chunk does to all segments, and to a new one that begins with it; nothing changes yet."""
        rows, start = RowView(history, chunk), history.num_rows
        segments, is_trusted = self._segments, np.zeros(0, bool)
        if self._is_simple:
            segments = with_chunk(self.model, begun(self.model, segments, start), rows, chunk, self._seed)
            is_trusted = segments.is_trusted
        odd = [int(one) for one in segments.starts[~is_trusted]] if self._is_simple else [start]
        segments = segments.only(is_trusted)
        alone = {one: (member, member.weigh(chunk, 0, Since(history, one))) for one, member in self._alone.items()}
        for one in odd:
            member = OnlineEvidence(self.model, self._config, self._seed_of(one), Since(history, one))  # type: ignore[arg-type]
            so_far = rows.between(one, rows.num_rows)
            alone[one] = member, member.weigh(so_far, 0, Until(Since(rows, one), 0))
        return _step(segments, alone)

    def accept(self, step: BankStep, kept: set[int]) -> None:
        """Continue from what `weigh` has found, with those segments that are to be kept."""
        self._segments = step.segments.only(np.isin(step.segments.starts, list(kept)))
        self._alone = {}
        for start, (member, taken) in step.alone.items():
            if start in kept:
                member.accept(taken)
                self._alone[start] = member

    def particles(self, start: int) -> tuple[np.ndarray, np.ndarray]:
        """Positions and normalised log weights of a segment."""
        if start in self._alone:
            member = self._alone[start]
            return unconstrain(self.model, member.particles), member.log_weights
        line = int(np.searchsorted(self._segments.starts, start))
        return self._segments.positions[line], normalised(self._segments.log_weights[line])

    def _seed_of(self, start: int) -> int:
        return named_seed(self._seed, f"segment {start}")

    def state(self) -> dict[str, Any]:
        """Everything that the future depends on, for a checkpoint."""
        alone = {str(start): member.saved() for start, member in self._alone.items()}
        return {"config": self._config, "seed": self._seed, "segments": dict(vars(self._segments)), "alone": alone}

    @classmethod
    def restored(cls, model: Model, state: Mapping[str, Any], history: History) -> "Bank":
        """The bank that had this state."""
        bank = cls(model, state["config"], state["seed"])
        bank._segments = Segments(**state["segments"])
        for start, saved in state["alone"].items():
            since: Any = Since(history, int(start))
            bank._alone[int(start)] = OnlineEvidence.restored(saved, model, since)
        return bank


def _step(segments: Segments, alone: dict[int, tuple[OnlineEvidence, Step]]) -> BankStep:
    starts = segments.starts.tolist()
    log_evidences = dict(zip(starts, segments.log_evidences.tolist(), strict=True))
    errors = dict(zip(starts, segments.standard_errors.tolist(), strict=True))
    warnings = {}
    for start, (_, step) in alone.items():
        log_evidences[start], errors[start] = step.record.log_evidence, step.record.standard_error
        if step.record.warning:
            warnings[start] = step.record.warning
    return BankStep(segments, alone, log_evidences, errors, warnings)
