"""OnlineEvidence: push chunks, read off the evidence. Joins model, estimator and history; computes nothing."""

import time
from typing import Any, Protocol

import numpy as np
import pandas as pd

from sgais.errors import SgaisError, require
from sgais.estimators import paper, sgais
from sgais.estimators.error_budget import error_budget, in_words
from sgais.estimators.paper import PaperConfig
from sgais.estimators.particles import constrained
from sgais.estimators.record import EvidenceRecord
from sgais.estimators.weights import normalised
from sgais.fields import Chunk, Fields, as_arrays, check_chunk, infer_fields
from sgais.history import History
from sgais.model import Model, real_dtype


class Bindable(Protocol):
    """A model, or a program that becomes one when it sees its first chunk (`sgais.from_numpyro`)."""

    def bind(self, chunk: Chunk) -> Model:
        """The model for chunks like this one."""


ESTIMATORS: dict[type, Any] = {sgais.Config: sgais, PaperConfig: paper}


class OnlineEvidence:
    """The running evidence of one model on one stream.

    Args:
        model: A `sgais.Model`, a ready model of `sgais.models`, or the result of `sgais.from_numpyro`.
        config: The estimator's parameters.
        seed: Determines every random number: same seed, same machine, same bits.

    A chunk that is refused leaves everything as it was.
    """

    def __init__(self, model: Bindable, config: sgais.Config | PaperConfig | None = None, seed: int = 0) -> None:
        require(
            hasattr(model, "bind"), "model", "be a sgais.Model", model, "Wrap a NumPyro function in sgais.from_numpyro."
        )
        config = sgais.Config() if config is None else config
        require(type(config) in ESTIMATORS, "config", "be a sgais.Config", config)
        is_seed = isinstance(seed, int | np.integer) and 0 <= seed < 2**32
        require(is_seed, "seed", "be a whole number from 0 to 2**32 - 1", seed)
        self.config = config
        self._estimator = ESTIMATORS[type(config)]
        self.seed = int(seed)
        self._given = model
        self._model: Model | None = model if isinstance(model, Model) else None
        self._fields: Fields | None = None if self._model is None else self._model.fields
        self._state: sgais.State | paper.State | None = None
        self._history = History()
        self._records: list[EvidenceRecord] = []

    def update(self, chunk: object) -> EvidenceRecord:
        """Take in a chunk of any number of rows and return its point of the evidence curve."""
        start = time.perf_counter()
        model, fields, rows = self._check(chunk)
        state = self._state_for(model)
        new_state, info = self._estimator.update(model, self.config, self.seed, state, rows, self._history)
        found = new_state.estimate
        record = EvidenceRecord(
            num_rows=new_state.num_rows,
            log_evidence=found.log_evidence,
            increment=found.log_evidence - self.log_evidence,
            standard_error=found.standard_error,
            kernel_bias=new_state.kernel_bias,
            **info._asdict(),
            warning=new_state.warning,
            seconds=time.perf_counter() - start,
        )
        self._history.append(rows)
        self._model, self._fields, self._state = model, fields, new_state
        self._records.append(record)
        return record

    def log_predictive(self, chunk: object) -> float:
        """Log p(chunk | everything seen) under the present particles; changes nothing."""
        model, _, rows = self._check(chunk)
        return self._estimator.log_predictive(model, self._state_for(model), rows)

    @property
    def num_rows(self) -> int:
        """Rows seen so far."""
        return self._history.num_rows

    @property
    def log_evidence(self) -> float:
        """Log Z of all rows so far; 0 before the first."""
        return self._records[-1].log_evidence if self._records else 0.0

    @property
    def standard_error(self) -> float:
        """The Monte Carlo error of `log_evidence`; NaN in paper mode, since Algorithm 1 gives none."""
        return self._records[-1].standard_error if self._records else 0.0

    @property
    def error_budget(self) -> dict[str, float]:
        """The parts of the error of `log_evidence`, in nats: Monte Carlo, and the heat of the moves."""
        return error_budget(self._records[-1] if self._records else None)

    @property
    def warning(self) -> str:
        """Why `log_evidence` should not be trusted; empty if nothing is known against it."""
        return self._records[-1].warning if self._records else ""

    @property
    def records(self) -> tuple[EvidenceRecord, ...]:
        """The evidence curve so far, one record per chunk."""
        return tuple(self._records)

    @property
    def particles(self) -> dict[str, np.ndarray]:
        """Draws by parameter name, constrained, leading axis particles; from the prior before any data."""
        model = self._bound_model()
        return constrained(model, self._estimator.positions_now(self._state_for(model)))

    @property
    def log_weights(self) -> np.ndarray:
        """Normalised log weights of the particles (equal after resampling)."""
        return normalised(self._estimator.log_weights_now(self._state_for(self._bound_model())))

    def to_frame(self) -> pd.DataFrame:
        """The records as a data frame, one row per chunk."""
        return pd.DataFrame(self._records, columns=list(EvidenceRecord._fields))

    def __str__(self) -> str:
        beware = f" BEWARE: {self.warning}." if self.warning else ""
        return f"log Z = {self.log_evidence:.2f}{in_words(self.error_budget)}, {self.num_rows} rows.{beware}"

    def __repr__(self) -> str:
        return f"OnlineEvidence({self._given!r}, num_rows={self.num_rows}, log_evidence={self.log_evidence:.6g})"

    def _check(self, chunk: object) -> tuple[Model, Fields, Chunk]:
        """The model, its fields and the checked rows; the first chunk settles what is still open."""
        arrays = as_arrays(chunk)
        fields = self._fields or infer_fields(arrays)
        rows = check_chunk(arrays, fields, real_dtype())
        if self._state is not None:
            return self._bound_model(), fields, rows
        model = self._given.bind(rows)
        model.check_log_likelihood(rows)
        return model, fields, rows

    def _bound_model(self) -> Model:
        if self._model is None:
            raise SgaisError("the parameters of a NumPyro model are known after the first chunk. Push one first.")
        return self._model

    def _state_for(self, model: Model) -> Any:
        if self._state is None:
            return self._estimator.init(model, self.config, self.seed)
        return self._state
