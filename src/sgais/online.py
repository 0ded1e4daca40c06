"""OnlineEvidence: push chunks, read off the evidence.

Joins model, estimator, history and checkpoints; computes nothing.
"""

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sgais import checkpoint
from sgais.compute.random_keys import random_key
from sgais.errors import SgaisError, require
from sgais.estimators import registry as estimators
from sgais.estimators.base import EstimatorState
from sgais.estimators.default.config import Config
from sgais.fields import Chunk, Field, Fields, check_chunk, infer_fields, num_rows
from sgais.history import History, Memory, Past
from sgais.history.past import Since, latest
from sgais.history.saved import restored_history, saved_history
from sgais.models import fingerprint, reading
from sgais.models.base import Model, ModelLike, real_dtype, require_model
from sgais.models.reading import Reader, Reading, ReadingModel
from sgais.predictive.absurdity import absurdity, may_be_absurd
from sgais.predictive.outliers import QUARANTINE, REFERENCE_ROWS, Behind, Outliers, outliers, require_policy, sifted
from sgais.predictive.particle_view import ParticleView
from sgais.predictive.replicates import expected_log_predictive
from sgais.predictive.rows import row_log_predictives
from sgais.results.curve import Curve
from sgais.results.curve_view import CurveView
from sgais.results.joined import Joined
from sgais.results.left_out import NONE_LEFT_OUT, LeftOut
from sgais.results.record import EvidenceRecord
from sgais.results.step import Step, record_of, with_joined
from sgais.run_loop import Place, Streamed
from sgais.shift import ShiftDetector
from sgais.shift.watching import require_detector, restored_detector, saved_detector, show
from sgais.smc.weights import normalised
from sgais.streams.seen import Seen

if TYPE_CHECKING:
    pass

SAVED_TYPES: dict[str, type] = {kind.__name__: kind for kind in (*estimators.SAVED_TYPES, Field, Place, Seen)}
FINGERPRINT_ROWS = 16
REPLICATES = 7919  # a purpose of random numbers, unlike the numbers that estimators give their draws


class OnlineEvidence(CurveView, ParticleView, Streamed[EvidenceRecord]):
    """The running evidence of one model on one stream.

    Args:
        model: A `sgais.Model`, a ready model of `sgais.models`, or the result of `sgais.glm` or `sgais.from_numpyro`.
        config: The estimator's parameters.
        seed: Determines every random number: same seed, same machine, same bits.
        history: How the past is kept: all of it in memory (the default), in a file (`sgais.history.Disk`), or a sample
            of bounded size (`sgais.history.Reservoir`).
        detector: Watches the curve for changes of the data, if given: by replicates of each chunk where the model can
            predict, else by the history of the stream. It is saved with the checkpoints.
        on_outlier: What is done with a row that is absurd by the model's own predictive (`predictive/outliers.py`):
            "quarantine" leaves it out, "warn" as well but lets log Z count its surprise, "raise" refuses the chunk.
            Records warn of it from there on.

    A chunk that is refused leaves everything as it was.

    Example:
        >>> data = sgais.simulate.linear_regression(400, dim=2).data
        >>> evidence = sgais.OnlineEvidence(sgais.models.LinearRegression(dim=2), seed=1)
        >>> for chunk in sgais.stream(data, chunk_size=200):
        ...     record = evidence.update(chunk)
        >>> evidence.num_rows, evidence.standard_error < 0.5
        (400, True)
    """

    def __init__(
        self,
        model: ModelLike,
        config: estimators.OnlineConfig | None = None,
        seed: int = 0,
        history: History | None = None,
        detector: ShiftDetector | None = None,
        on_outlier: str = QUARANTINE,
    ) -> None:
        require_model(model)
        config = Config() if config is None else config
        require(type(config) in estimators.ESTIMATORS, "config", "be a sgais.Config", config)
        is_seed = isinstance(seed, int | np.integer) and 0 <= seed < 2**32
        require(is_seed, "seed", "be a whole number from 0 to 2**32 - 1", seed)
        require_detector(detector)
        self.config, self.detector, self.on_outlier = config, detector, require_policy(on_outlier)
        self._estimator = estimators.ESTIMATORS[type(config)]
        self.seed = int(seed)
        self._given = model
        self._model, self._fields = model.bound, model.fields
        self._reader: Reader | None = None
        self._state: EstimatorState | None = None
        self._history: History = Memory() if history is None else history
        self._records = Curve()
        self.left_out, self._joined = LeftOut(), Joined()
        self.num_left_out = 0
        self.place = Place()

    def take_in(self, chunk: object, num_bad_rows: int) -> EvidenceRecord:
        """What the run loop does with each chunk: all of `update`, but for where the stream stands behind it."""

        def weigh(
            readings: Mapping[str, Reading], left_out: Mapping[str, LeftOut]
        ) -> tuple[dict[str, Step], dict[str, str]]:
            return {"": self.weigh(readings[""], num_bad_rows, left_out=left_out.get("", LeftOut()))}, {}

        readings, behind = {"": self.read(chunk)}, Behind(self.place.position, self.num_rows)
        found = sifted(readings, weigh, lambda _, reading: self.outliers(reading), self.on_outlier, behind)
        step: Step = found.steps[""]
        self._history.append(step.rows)
        self.accept(step)
        self.num_left_out += found.num_left_out
        return step.record

    def weigh(
        self, chunk: object, num_bad_rows: int, past: Past | None = None, left_out: LeftOut = NONE_LEFT_OUT
    ) -> Step:
        """All that `update` computes; nothing changes until the step is accepted.

        Args:
            chunk: The chunk.
            num_bad_rows: Rows that its stream has refused so far.
            past: The rows before it, where these are not all that the history holds.
            left_out: Outliers that were part of the chunk.
        """
        start = time.perf_counter()
        model, reader, fields, rows = self._check(chunk)
        state = self._state_for(model)
        past = Since(self._history, self._joined.first_row) if past is None else past
        new_state, info = self._estimator.update(model, self.config, self.seed, state, rows, past)
        all_left_out = self.left_out.plus(left_out)
        counts = (num_bad_rows + left_out.num_rows, time.perf_counter() - start)
        record = record_of(new_state, info, self.log_evidence, all_left_out, self._joined, *counts)
        if may_be_absurd(record, num_rows(rows)):
            record = record.with_warning(self._absurdity(model, new_state, rows))
        expected = None if self.detector is None else self._expected(model, rows)
        return Step(model, reader, fields, rows, new_state, record, expected, all_left_out)

    def accept(self, step: Step) -> None:
        """Continue from what `weigh` has found; its rows are to be appended to the history by whoever keeps that."""
        self._model, self._reader = step.model, step.reader
        self._fields, self._state, self.left_out = step.fields, step.state, step.left_out
        self._records.append(step.record)
        if self.detector is not None:
            show(self.detector, step.record, step.expected)

    def join(self, joined: Joined) -> None:
        """Say where the model has come from, before the rows that it learns from; and behind them, what counts."""
        last, self._records = self.last_record, Curve()
        self._joined = joined
        if last is not None:  # rows that do not count are no part of the curve
            self._records.append(with_joined(last, joined))

    def watch(self, detector: ShiftDetector) -> None:
        """Let a detector look at the curve so far, which only history can judge by now, and at every chunk to come."""
        for record in self._records:
            show(detector, record)
        self.detector = detector

    def save(self, path: str | Path) -> None:
        """Write everything that the future depends on to a file; the one before stays as its previous generation.

        Rows are part of it as far as `history` keeps them in memory.
        """
        if self._state is None:
            raise SgaisError("there is nothing to save before the first chunk. Push one first.")
        parts = {"history": saved_history(self._history, Path(path).parent), "detector": saved_detector(self.detector)}
        checkpoint.write(path, self.saved() | parts)

    @classmethod
    def load(cls, path: str | Path, model: ModelLike) -> "OnlineEvidence":
        """Resume from a checkpoint: every later bit is as if there had been no break.

        Args:
            path: The file. If it is damaged, its previous generation is used, with a warning.
            model: The model that it was saved with; another one is refused.
        """
        with checkpoint.offering_previous(path):
            content = checkpoint.read(path, SAVED_TYPES)
            checkpoint.require_part(path, content, "fingerprint", cls.__name__)
            evidence = cls.restored(content, model, restored_history(content["history"], Path(path).parent))
            evidence.detector = restored_detector(content.get("detector"))  # older checkpoints have none
            return evidence

    def saved(self) -> dict[str, Any]:
        """What a checkpoint holds of it, without the history and the detector."""
        model, rows = self._bound_model(), self.num_rows
        some_rows = self._history.between(rows - min(FINGERPRINT_ROWS, self._history.reach), rows)
        return {
            "config": self.config,
            "seed": self.seed,
            "fields": self._fields,
            "state": self._state,
            "records": self._records.state(),
            "reader": None if self._reader is None else self._reader.state(),
            "fingerprint": fingerprint.take(model, self._estimator.positions_now(self._state)[0], some_rows),
            "place": self.place,
            "left_out": list(self.left_out),
            "joined": list(self._joined),
            "on_outlier": self.on_outlier,
        }

    @classmethod
    def restored(cls, content: dict[str, Any], model: ModelLike, history: History) -> "OnlineEvidence":
        """What was saved, on a history that has been restored."""
        evidence = cls(model, content["config"], content["seed"], history)
        if isinstance(model, ReadingModel) and content.get("reader") is not None:
            evidence._reader = model.restored_reader(content["reader"])
            evidence._model = evidence._reader.model
        else:
            evidence._model = model.bind(content["fingerprint"]["rows"])
        fingerprint.compare(evidence._model, content["fingerprint"])
        evidence._fields, evidence._state = content["fields"], content["state"]
        evidence._records = Curve.restored(content["records"])
        evidence.place = replace(content["place"], is_resumed=True)
        evidence.left_out = LeftOut(*content.get("left_out", ()))  # older checkpoints have none, and this
        evidence._joined = Joined(*content.get("joined", ()))
        evidence.on_outlier = content.get("on_outlier", QUARANTINE)
        return evidence

    def keep_records(self, count: int) -> None:
        """Forget all records but the latest, on a stream that does not end; no evidence changes."""
        self._records.keep_latest(count)

    def log_predictive(self, chunk: object) -> float:
        """Log p(chunk | everything seen) under the present particles; changes nothing."""
        model, _, _, rows = self._check(chunk)
        return self._estimator.log_predictive(model, self._state_for(model), rows)

    def outliers(self, chunk: object) -> Outliers:
        """The rows of a chunk that are absurd by the predictive; changes nothing."""
        model, _, _, rows = self._check(chunk)
        positions = self._estimator.positions_now(self._state_for(model))
        return outliers(model, positions, rows, latest(self._history, REFERENCE_ROWS))

    def row_log_predictives(self, chunk: object) -> np.ndarray:
        """Log p(row | everything seen) of each row by itself, also of a `Step` that waits; changes nothing."""
        step = chunk if isinstance(chunk, Step) else None
        model, _, _, rows = self._check(chunk) if step is None else (step.model, None, None, step.rows)
        state = self._state_for(model)
        positions, log_weights = self._estimator.positions_now(state), self._estimator.log_weights_now(state)
        return row_log_predictives(model, positions, normalised(log_weights), rows)

    def expected(self, chunk: object) -> tuple[float, float] | None:
        """Mean and standard deviation that `log_predictive(chunk)` should have if the model is right; changes nothing.

        From replicates at the chunk's inputs, at limited cost. None before the first chunk, or if it cannot predict.
        """
        model, _, _, rows = self._check(chunk)
        return self._expected(model, rows)

    def _expected(self, model: Model, rows: Chunk) -> tuple[float, float] | None:
        if model.predictive is None or self._state is None:
            return None
        positions = self._estimator.positions_now(self._state)
        key = self._replicates_key(self._state)
        return expected_log_predictive(model, positions, self.log_weights, rows, self._state.num_rows, key)

    def _replicates_key(self, state: EstimatorState) -> np.ndarray:
        return random_key(self.seed, state.num_chunks, REPLICATES)

    def _absurdity(self, model: Model, state: EstimatorState, rows: Chunk) -> str:
        positions, log_weights = self._estimator.positions_now(state), self._estimator.log_weights_now(state)
        return absurdity(model, positions, normalised(log_weights), rows, self._replicates_key(state))

    @property
    def model(self) -> ModelLike:
        """The model, as it was given."""
        return self._given

    @property
    def reader(self) -> Reader | None:
        """How rows are read, as the first ones have fixed it; None before them, or where rows are taken as they are."""
        return self._reader

    def kept_rows(self) -> Chunk | None:
        """Every row so far, as the model takes them; None where the history has let go of some."""
        return self._history.between(0, self.num_rows) if self._history.reach == self._history.num_rows else None

    def __repr__(self) -> str:
        beware = f", warning={self.warning!r}" if self.warning else ""
        known = f"num_rows={self.num_rows}, log_evidence={self.log_evidence:.6g}{beware}"
        return f"OnlineEvidence({self._given!r}, {known})"

    def read(self, chunk: object) -> Reading:
        """The columns of a chunk as the model takes them; nothing changes, also where the first rows settle how."""
        if isinstance(chunk, Reading):
            return chunk
        return reading.read(self._given, self._reader, chunk, self._fields)

    def _check(self, chunk: object) -> tuple[Model, Reader | None, Fields, Chunk]:
        """The model, its reader and fields, and the checked rows; the first chunk settles what is still open."""
        reader, arrays = self.read(chunk)
        fields = self._fields or infer_fields(arrays)
        rows = check_chunk(arrays, fields, real_dtype())
        if self._state is not None:
            return self._bound_model(), reader, fields, rows
        model = self._given.bind(rows) if reader is None else reader.model
        model.check_log_likelihood(rows)
        return model, reader, fields, rows

    def _bound_model(self) -> Model:
        if self._model is None:
            raise SgaisError("the parameters of such a model are known after the first chunk. Push one first.")
        return self._model

    def _state_for(self, model: Model) -> Any:
        return self._estimator.init(model, self.config, self.seed) if self._state is None else self._state
