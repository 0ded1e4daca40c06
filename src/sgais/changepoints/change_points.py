"""ChangePoints: push chunks, read off where the stream has changed, and how sure that is. Joins; computes nothing."""

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sgais import checkpoint
from sgais.changepoints.absurd import absurd_rows, is_suspicious
from sgais.changepoints.bank import Bank, BankStep
from sgais.changepoints.predecessors import Predecessors
from sgais.changepoints.records import ChangePointRecord, ChangePointRecords
from sgais.changepoints.recursion import RunLengths, worth_keeping
from sgais.changepoints.view import ChangePointsView
from sgais.comparison.probabilities import log_prior_odds, shares_of
from sgais.compute.random_keys import named_seed
from sgais.errors import EstimationError, SgaisError, is_number, require, require_count
from sgais.estimators.default.config import Config
from sgais.fields import Chunk, Fields, as_arrays, check_chunk, infer_fields, num_rows
from sgais.history import History, Memory, Reservoir
from sgais.history.saved import restored_history, saved_history
from sgais.models import fingerprint
from sgais.models.base import ModelLike, real_dtype
from sgais.models.reading import ReadingModel
from sgais.online import SAVED_TYPES
from sgais.predictive import prediction
from sgais.predictive.outliers import QUARANTINE, RAISE, refusal, without
from sgais.predictive.prediction import Prediction
from sgais.results.left_out import LeftOut
from sgais.run_loop import Place, Streamed

COUNTS = 1e-3  # posterior of segments that predictions and warnings come from
FINGERPRINT_ROWS = 16


class ChangePoints(ChangePointsView, Streamed[ChangePointRecord]):
    """The posterior of change points on a stream, for any model.

    At a change the parameters are drawn anew from the prior, and the model too if there are several. Changes are
    looked for at the borders of chunks: small chunks show more exactly where.

    Args:
        models: A model, or several by name.
        hazard: The probability of a change before a row.
        config: The estimator's parameters, for segments that need an estimator of their own.
        seed: Determines every random number.
        prior_odds: How probable each model is for a segment, as positive numbers by name; all alike if omitted.
        history: How the rows are kept: all of them, in memory (the default) or in a file (`sgais.history.Disk`).
        bank: Segments that are kept, of all models together. What a chunk costs is proportional to it.
        on_outlier: What is done with a row that no model can explain, in the present segment or in a new one:
            "quarantine" leaves it out, and records warn of it; "raise" refuses the chunk.

    Example:
        >>> y = np.repeat([0.0, 3.0], 60) + np.random.default_rng(0).normal(size=120)
        >>> points = sgais.ChangePoints(sgais.models.LinearRegression(dim=1), hazard=1 / 100)
        >>> record = points.run(sgais.stream({"x": np.zeros((120, 1)), "y": y}, chunk_size=20))
        >>> [(segment.start, segment.end) for segment in points.segments]
        [(0, 60), (60, 120)]
    """

    def __init__(
        self,
        models: ModelLike | Mapping[str, ModelLike],
        hazard: float = 1e-3,
        config: Config | None = None,
        seed: int = 0,
        prior_odds: Mapping[str, float] | None = None,
        history: History | None = None,
        bank: int = 100,
        on_outlier: str = QUARANTINE,
    ) -> None:
        named = models if isinstance(models, Mapping) else {"model": models}
        cure = "Wrap a NumPyro function in sgais.from_numpyro."
        are_models = len(named) > 0 and all(hasattr(model, "bind") for model in named.values())
        require(are_models, "models", "be a sgais.Model or several by name", models, cure)
        formulas = [model for model in named.values() if isinstance(model, ReadingModel)]
        cure = "Fix its reader, reader = model.reader(rows): pass reader.model, and push reader.read(chunk)."
        require(not formulas, "models", "take rows as they are", formulas[:1], cure)
        require(is_number(hazard) and 0 < hazard < 1, "hazard", "lie between 0 and 1", hazard)
        require(config is None or isinstance(config, Config), "config", "be a sgais.Config", config)
        is_seed = isinstance(seed, int | np.integer) and 0 <= seed < 2**32
        require(is_seed, "seed", "be a whole number from 0 to 2**32 - 1", seed)
        cure = "Use sgais.history.Memory or Disk."
        require(not isinstance(history, Reservoir), "history", "keep all rows", history, cure)
        require_count("bank", bank, 2 * len(named))
        require(on_outlier in (QUARANTINE, RAISE), "on_outlier", f"be {QUARANTINE} or {RAISE}", on_outlier)
        self.on_outlier, self._left_out, self.num_left_out = on_outlier, LeftOut(), 0
        self.models = {str(name): model for name, model in named.items()}
        self.hazard, self.seed, self.bank = float(hazard), int(seed), int(bank)
        self._config = Config() if config is None else config
        shares = shares_of(log_prior_odds(list(self.models), prior_odds))
        self._log_model_priors = np.log([shares[name] for name in self.models])
        self._history: History = Memory() if history is None else history
        self._fields: Fields | None = None
        self._banks: dict[str, Bank] = {}
        self._run_lengths, self._predecessors = RunLengths.none(), Predecessors.none()
        self._records = ChangePointRecords()
        self.place = Place()

    def take_in(self, chunk: object, num_bad_rows: int) -> ChangePointRecord:  # noqa: ARG002, the run loop's contract
        """What the run loop does with each chunk: all of `update`, but for where the stream stands behind it."""
        begun = time.perf_counter()
        fields, rows, banks = self._check(chunk)
        rows, steps, run_lengths, left_out = self._sifted(rows, banks)
        before, start = self._run_lengths, self.num_rows
        self._left_out, self.num_left_out = self._left_out.plus(left_out), self.num_left_out + left_out.num_rows
        warning = "; ".join(filter(None, [self._warning(run_lengths, steps), self._left_out.warning]))
        kept = worth_keeping(run_lengths, self.bank)
        self._history.append(rows)
        self._predecessors.append(start, before)
        self._fields, self._banks = fields, banks
        self._run_lengths = run_lengths.only(kept)
        for number, (name, bank) in enumerate(banks.items()):
            of_model = self._run_lengths.starts[self._run_lengths.models == number]
            bank.accept(steps[name], {int(one) for one in of_model})
        record = self._record(run_lengths, before, start, warning, time.perf_counter() - begun)
        self._records.append(record)
        return record

    @property
    def num_rows(self) -> int:
        """Rows seen so far."""
        return self._history.num_rows

    def log_predictive(self, chunk: object) -> float:
        """Log p(chunk | everything seen), a change before it being possible; changes nothing."""
        _, rows, banks = self._check(chunk)
        return self._weighed(rows, banks)[1].log_evidence - self.log_evidence

    def predict(self, inputs: object = None) -> Prediction:
        """What is expected of rows of the present segment, whichever that is: what is over is forgotten."""
        if not self.num_rows:
            raise SgaisError("there is nothing to predict from before the first chunk. Push one first.")
        shares = self._run_lengths.posterior
        counts = np.flatnonzero(shares >= min(COUNTS, float(shares.max())))
        names, found = list(self.models), []
        for number in counts:
            bank = self._banks[names[self._run_lengths.models[number]]]
            positions, log_weights = bank.particles(int(self._run_lengths.starts[number]))
            found.append(prediction.predict(bank.model, self._fields, positions, log_weights, inputs, self.seed))
        return prediction.average(found, shares[counts] / shares[counts].sum())

    def save(self, path: str | Path) -> None:
        """Write everything that the future depends on to a file, as `OnlineEvidence.save` does."""
        if not self.num_rows:
            raise SgaisError("there is nothing to save before the first chunk. Push one first.")
        checkpoint.write(path, self.saved(Path(path).parent))

    def saved(self, folder: Path) -> dict[str, Any]:
        """What a checkpoint in a folder holds of it."""
        some_rows = self._history.between(0, min(FINGERPRINT_ROWS, self.num_rows))
        newest = int(self._run_lengths.starts[-1])
        prints = {}
        for name, bank in self._banks.items():
            prints[name] = fingerprint.take(bank.model, bank.particles(newest)[0][0], some_rows)
        return {
            "hazard": self.hazard,
            "seed": self.seed,
            "bank": self.bank,
            "config": self._config,
            "log_model_priors": self._log_model_priors,
            "fields": self._fields,
            "fingerprints": prints,
            "banks": {name: bank.state() for name, bank in self._banks.items()},
            "run_lengths": dict(vars(self._run_lengths)),
            "predecessors": self._predecessors.state(),
            "records": self._records.state(),
            "place": self.place,
            "history": saved_history(self._history, folder),
            "on_outlier": self.on_outlier,
            "left_out": list(self._left_out),
        }

    @classmethod
    def load(cls, path: str | Path, models: ModelLike | Mapping[str, ModelLike]) -> "ChangePoints":
        """Resume from a checkpoint, with the models that it was saved with: every later bit is as without a break."""
        with checkpoint.offering_previous(path):
            content = checkpoint.read(path, SAVED_TYPES)
            checkpoint.require_part(path, content, "predecessors", cls.__name__)
            return cls.restored(content, models, Path(path).parent)

    @classmethod
    def restored(
        cls, content: dict[str, Any], models: ModelLike | Mapping[str, ModelLike], folder: Path
    ) -> "ChangePoints":
        """What was saved."""
        history = restored_history(content["history"], folder)
        options = {name: content[name] for name in ("hazard", "config", "seed", "bank")}
        points = cls(models, history=history, **options)
        names = list(content["banks"])
        require(list(points.models) == names, "models", f"have the names that were saved, {names}", list(points.models))
        points._log_model_priors, points._fields = content["log_model_priors"], content["fields"]
        for name, model in points.models.items():
            bound = model.bind(content["fingerprints"][name]["rows"])
            fingerprint.compare(bound, content["fingerprints"][name])
            points._banks[name] = Bank.restored(bound, content["banks"][name], history)
        points._run_lengths = RunLengths(**content["run_lengths"])
        points._predecessors = Predecessors.restored(content["predecessors"])
        points._records = ChangePointRecords.restored(content["records"])
        points.place = replace(content["place"], is_resumed=True)
        points.on_outlier = content.get("on_outlier", QUARANTINE)  # older checkpoints have neither
        points._left_out = LeftOut(*content.get("left_out", ()))
        return points

    def _sifted(self, rows: Chunk, banks: Mapping[str, Bank]) -> tuple[Chunk, dict[str, BankStep], RunLengths, LeftOut]:
        """Weigh a chunk, without its absurd rows if it has any."""
        try:
            weighed, error = self._weighed(rows, banks), None
            if not is_suspicious(weighed[1].log_evidence - self.log_evidence):
                return rows, *weighed, LeftOut()
        except EstimationError as impossible:
            error = impossible
        newest = int(self._run_lengths.starts[-1]) if self.num_rows else 0
        absurd = absurd_rows(banks, newest, self._history, rows, self.seed)
        if not len(absurd):
            if error is not None:
                raise error
            return rows, *weighed, LeftOut()
        if self.on_outlier == RAISE:
            raise refusal(int(absurd[0]), self.place.position, len(absurd))
        rows = without(rows, absurd)
        return rows, *self._weighed(rows, banks), LeftOut(len(absurd), self.place.position + int(absurd[0]))

    def _weighed(self, rows: Chunk, banks: Mapping[str, Bank]) -> tuple[dict[str, BankStep], RunLengths]:
        steps = {name: bank.weigh(self._history, rows) for name, bank in banks.items()}
        return steps, self._with(steps, num_rows(rows))

    def _check(self, chunk: object) -> tuple[Fields, Chunk, dict[str, Bank]]:
        arrays = as_arrays(chunk)
        declared = next((model.fields for model in self.models.values() if model.fields), None)
        fields = self._fields or declared or infer_fields(arrays)
        rows = check_chunk(arrays, fields, real_dtype())
        return fields, rows, self._banks or {name: self._new_bank(name, rows) for name in self.models}

    def _new_bank(self, name: str, rows: Chunk) -> Bank:
        model = self.models[name].bind(rows)
        model.check_log_likelihood(rows)
        return Bank(model, self._config, named_seed(self.seed, name))

    def _with(self, steps: Mapping[str, BankStep], rows: int) -> RunLengths:
        change = -float(np.expm1(rows * np.log1p(-self.hazard)))
        begun = self._run_lengths.begun(self.num_rows, self._log_model_priors, change)
        ordered = list(steps.values())
        entries = list(zip(begun.starts.tolist(), begun.models.tolist(), strict=True))
        log_evidences = np.array([ordered[model].log_evidences[start] for start, model in entries])
        errors = np.array([ordered[model].errors[start] for start, model in entries])
        if not np.isfinite(log_evidences).any():
            raise EstimationError("the chunk has a likelihood of zero in every segment. Drop its impossible row.")
        return begun.with_evidences(log_evidences, errors)

    def _warning(self, run_lengths: RunLengths, steps: Mapping[str, BankStep]) -> str:
        """The warning of the most probable segment that has one and counts."""
        shares, ordered = run_lengths.posterior, list(steps.values())
        for number in np.argsort(-shares):
            if shares[number] < COUNTS:
                break
            start = int(run_lengths.starts[number])
            warning = ordered[run_lengths.models[number]].warnings.get(start)
            if warning:
                return f"segment from row {start}: {warning}"
        return ""

    def _record(
        self, run_lengths: RunLengths, before: RunLengths, start: int, warning: str, seconds: float
    ) -> ChangePointRecord:
        shares = run_lengths.posterior
        return ChangePointRecord(
            num_rows=self.num_rows,
            log_evidence=run_lengths.log_evidence,
            standard_error=run_lengths.standard_error,
            increment=run_lengths.log_evidence - before.log_evidence,
            probability=float(shares[run_lengths.starts == start].sum()),
            run_length=float(shares @ (self.num_rows - run_lengths.starts)),
            num_segments=len(self._run_lengths.starts),
            warning=warning,
            seconds=seconds,
        )
