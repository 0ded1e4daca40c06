"""Many models on one stream: which of them, how sure, and what they expect together."""

import copy
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sgais import checkpoint
from sgais.comparison import joining
from sgais.comparison.columns import check_columns
from sgais.comparison.combination import EVIDENCE, ChunkScores, combination_of
from sgais.comparison.decisions import Decisions
from sgais.comparison.probabilities import log_mixture, log_prior_odds, shares_of
from sgais.comparison.records import ComparisonRecord, Standings
from sgais.comparison.sensitivity import NUM_SCALES, PriorSensitivity, prior_sensitivity
from sgais.comparison.view import ComparisonView
from sgais.compute.random_keys import named_seed
from sgais.errors import DataError, EstimationError, ModelError, SgaisError, is_number, require
from sgais.estimators.annealing_config import PaperConfig
from sgais.estimators.default.config import Config
from sgais.estimators.importance.config import ImportanceConfig
from sgais.fields import num_rows
from sgais.history import History, Memory
from sgais.history.saved import restored_history, saved_history
from sgais.models.base import ModelLike
from sgais.models.reading import Reading, ReadingModel, joined
from sgais.online import SAVED_TYPES, OnlineEvidence
from sgais.predictive import prediction
from sgais.predictive.outliers import QUARANTINE, Behind, Outliers, require_policy, sifted
from sgais.predictive.prediction import Prediction
from sgais.results.left_out import LeftOut
from sgais.results.record import EvidenceRecord
from sgais.results.step import Step
from sgais.run_loop import Place, Streamed
from sgais.shift import ShiftDetector
from sgais.shift.watching import require_detector, restored_detector, saved_detector


class Comparison(ComparisonView, Streamed[ComparisonRecord]):
    """The running evidence of several models on one stream.

    Each chunk is read and kept once. All models take a chunk or none does; one that cannot continue is marked as
    failed, and the others continue without it.

    Args:
        models: At least one, by name. They must want the same columns.
        config: The estimator's parameters, for all models.
        seed: Determines every random number; each model has its own, which does not depend on the others.
        prior_odds: How probable each model is before any data, as positive numbers by name; all alike if omitted.
        history: How the past is kept, see `OnlineEvidence`.
        forgetting: For worlds that drift: the share of the models' weights in predictions that is redistributed by the
            prior odds with each row (fixed share). Log Z and probabilities never forget.
        combine: How models are weighted in predictions: by their probabilities ("evidence"); with forgetting whose
            rate is chosen as the rows come ("forgetting"); or for the best log score of the mixture, whether or not any
            model is true ("stacking").
        detector: What every model's shift detector is to be like (see `detectors`, and `OnlineEvidence`); none if
            omitted.
        on_outlier: What is done with a row that is absurd by the predictive of one of the models, as in
            `OnlineEvidence`; it is left out for all of them, so that they stay comparable.

    Example:
        >>> data = sgais.simulate.linear_regression(400, dim=2).data
        >>> models = {"one": sgais.models.LinearRegression(2, features=(0,)), "both": sgais.models.LinearRegression(2)}
        >>> comparison = sgais.Comparison(models)
        >>> record = comparison.run(sgais.stream(data, chunk_size=200))
        >>> comparison.last_record.leader
        'both'
        >>> log_bayes_factor, error = comparison.log_bayes_factor("both", "one")
    """

    def __init__(
        self,
        models: Mapping[str, ModelLike],
        config: Config | PaperConfig | ImportanceConfig | None = None,
        seed: int = 0,
        prior_odds: Mapping[str, float] | None = None,
        history: History | None = None,
        forgetting: float = 0.0,
        detector: ShiftDetector | None = None,
        on_outlier: str = QUARANTINE,
        combine: str = EVIDENCE,
    ) -> None:
        require(isinstance(models, Mapping), "models", "be a dictionary of models by name", models)
        require(len(models) > 0, "models", "hold at least one model", dict(models))
        names = [str(name) for name in models]
        require(len(set(names)) == len(names), "models", "have different names", names)
        require(is_number(forgetting) and 0 <= forgetting < 1, "forgetting", "be at least 0 and below 1", forgetting)
        require_detector(detector)
        self.config, self.seed, self.forgetting = config, seed, forgetting
        self.on_outlier, self.num_left_out = require_policy(on_outlier), 0
        self._detector = None if detector is None else detector.like()
        self._history: History = Memory() if history is None else history
        self.place = Place()
        self._members = {str(name): self._member(str(name), model) for name, model in models.items()}
        check_columns(models)
        self._log_odds = log_prior_odds(list(self._members), prior_odds)
        self._weights = shares_of(self._log_odds)
        self.combine, self._combination = combine, combination_of(combine, forgetting, seed)
        self._scores, self._score = dict.fromkeys(self._members, 0.0), 0.0
        self._decisions = Decisions(self._log_odds)
        self._failures: dict[str, str] = {}
        self._records = Standings()
        self._num_forgotten = 0  # records that are no longer kept

    def take_in(self, chunk: object, num_bad_rows: int) -> ComparisonRecord:
        """What the run loop does with each chunk: all of `update`, but for where the stream stands behind it."""

        def weigh(
            readings: Mapping[str, Reading], left_out: Mapping[str, LeftOut]
        ) -> tuple[dict[str, Step], dict[str, str]]:
            return self._weigh(readings, num_bad_rows, left_out)

        def outliers(name: str, reading: Reading) -> Outliers:
            return self._members[name].outliers(reading)

        behind = Behind(self.place.position, self.num_rows)
        found = sifted(self._read(chunk), weigh, outliers, self.on_outlier, behind)
        rows = next(iter(found.steps.values())).rows
        by_row = None
        if self._combination.wants_rows:
            by_row = {name: self._members[name].row_log_predictives(step) for name, step in found.steps.items()}
        self._history.append(rows)
        for name, step in found.steps.items():
            self._members[name].accept(step)
        self._failures |= found.failures
        self.num_left_out += found.num_left_out
        record = self._record(num_rows(rows), by_row)
        self._records.append(record)
        return record

    def add(self, name: str, model: ModelLike, prior_odds: float = 1.0) -> None:
        """Let a model join in mid-stream: it first takes in all rows so far, chunk by chunk as they came.

        Where not every row is kept, it learns from the latest that are, and its log Z counts from now on: the rows up
        to here count for it as for the others' mixture. Its records warn of that.

        Args:
            name: A name that is not taken.
            model: The model.
            prior_odds: Against the mean of the others.
        """
        require(name not in self._members, "name", f"differ from {sorted(self._members)}", name)
        require(is_number(prior_odds) and 0 < prior_odds < np.inf, "prior_odds", "be positive", prior_odds)
        check_columns({other: one.model for other, one in self._members.items()} | {name: model})
        reads = isinstance(model, ReadingModel)
        cure = "Its columns are not kept: name it from the start, in a new run."
        require(not reads or not self.num_rows, "model", "not be a formula where rows have been seen", model, cure)
        self._members[name] = self._joined(name, model)
        self._log_odds[name] = joining.mean_log_odds(self._log_odds) + float(np.log(prior_odds))
        self._combination.joined(name)
        self._weights = self._standing_weights()

    def drop(self, name: str) -> None:
        """Let a model leave; the others keep their evidences."""
        require(name in self._members, "name", f"be one of {sorted(self._members)}", name)
        require(len(self._members) > 1, "name", "leave at least one model", name)
        del self._members[name], self._log_odds[name]
        self._failures.pop(name, None)
        self._weights.pop(name, None)
        self._scores.pop(name, None)
        total = sum(self._weights.values())
        self._weights = {other: weight / total for other, weight in self._weights.items()}

    def prior_sensitivity(
        self, scale: tuple[float, float] = (1 / 4, 4), num_scales: int = NUM_SCALES
    ) -> PriorSensitivity:
        """Evidences and probabilities under wider and narrower priors of the coefficients, in all models alike.

        By reweighting the particles; where these are too few for that, from all rows anew, if the history has them.

        Args:
            scale: From how many times as wide as they are, to how many.
            num_scales: How many scales between the two, evenly spaced in their logarithm; 1 comes on top.
        """
        require(bool(self._records), "rows", "have come before priors are varied", self.num_rows)
        members = {name: self._members[name] for name in self._alive()}
        return prior_sensitivity(members, self._log_odds, scale, num_scales)

    def log_predictives(self, chunk: object) -> dict[str, float]:
        """Log p(chunk | everything seen) of each model; changes nothing."""
        readings = self._read(chunk)
        return {name: self._members[name].log_predictive(readings.get(name, chunk)) for name in self._alive()}

    def log_predictive(self, chunk: object) -> float:
        """Log p(chunk | everything seen) of the models' mixture; changes nothing."""
        found = self.log_predictives(chunk)
        return log_mixture(self._weights, found)

    def predict(self, inputs: object = None) -> Prediction:
        """What the models' mixture expects of rows with these inputs (columns of a chunk without the observation)."""
        names = [name for name in self._alive() if self._weights[name] > 0]
        weights = np.array([self._weights[name] for name in names])
        predictions = [self._members[name].predict(inputs) for name in names]
        return prediction.average(predictions, weights / weights.sum())

    def save(self, path: str | Path) -> None:
        """Write everything that the future depends on to a file, as `OnlineEvidence.save` does."""
        if not self._records:
            raise SgaisError("there is nothing to save before the first chunk. Push one first.")
        checkpoint.write(path, self.saved(Path(path).parent))

    @classmethod
    def load(cls, path: str | Path, models: Mapping[str, ModelLike]) -> "Comparison":
        """Resume from a checkpoint, with the models that it was saved with."""
        with checkpoint.offering_previous(path):
            content = checkpoint.read(path, SAVED_TYPES)
            checkpoint.require_part(path, content, "members", cls.__name__)
            return cls.restored(content, models, Path(path).parent)

    def saved(self, folder: Path) -> dict[str, Any]:
        """What a checkpoint in a folder holds of it."""
        return {
            "config": self.config,
            "seed": self.seed,
            "forgetting": self.forgetting,
            "combine": self.combine,
            "combination": self._combination.state(),
            "scores": {"of_models": self._scores, "of_mixture": self._score},
            "members": {name: self._members[name].saved() for name in self._members if name not in self._failures},
            "failures": self._failures,
            "log_odds": self._log_odds,
            "weights": self._weights,
            "records": self._records.state(),
            "watching": {
                "pattern": saved_detector(self._detector),
                "detectors": {name: detector.state() for name, detector in self.detectors.items()},
            },
            "decisions": self._decisions.state(),
            "num_forgotten": self._num_forgotten,
            "place": self.place,
            "history": saved_history(self._history, folder),
            "on_outlier": self.on_outlier,
        }

    @classmethod
    def restored(cls, content: dict[str, Any], models: Mapping[str, ModelLike], folder: Path) -> "Comparison":
        """What was saved with a checkpoint in this folder."""
        names = sorted([*content["members"], *content["failures"]])
        require(sorted(models) == names, "models", f"have the names that were saved, {names}", sorted(models))
        history = restored_history(content["history"], folder)
        comparison = cls(
            models,
            content["config"],
            content["seed"],
            None,
            history,
            content["forgetting"],
            combine=content.get("combine", EVIDENCE),  # older checkpoints know of nothing else
        )
        if "combination" in content:
            comparison._combination.restore(content["combination"])
            comparison._scores = dict(content["scores"]["of_models"])
            comparison._score = content["scores"]["of_mixture"]
        comparison.place = replace(content["place"], is_resumed=True)
        comparison.on_outlier = content.get("on_outlier", QUARANTINE)
        for name, saved in content["members"].items():
            comparison._members[name] = OnlineEvidence.restored(saved, models[name], history)
        comparison._failures, comparison._log_odds = content["failures"], content["log_odds"]
        comparison._weights, comparison._records = content["weights"], Standings.restored(content["records"])
        watching = content["watching"]
        pattern = watching["pattern"]  # a number in checkpoints of before
        comparison._detector = ShiftDetector(pattern) if isinstance(pattern, float) else restored_detector(pattern)
        for name, member in comparison._members.items():
            member.detector = restored_detector(watching["detectors"].get(name))
        comparison._num_forgotten = content["num_forgotten"]
        if "decisions" in content:  # not in checkpoints of before
            comparison._decisions = Decisions.restored(content["decisions"])
        return comparison

    def frozen(self) -> "Comparison":
        """A copy to predict with, from any thread, while this one continues; it must not be updated."""
        frozen = copy.copy(self)
        frozen._members = {name: copy.copy(member) for name, member in self._members.items()}
        frozen._failures = dict(self._failures)
        return frozen

    def keep_records(self, count: int) -> None:
        """Forget records but for the latest `count` or so, on a stream that does not end; no evidence changes."""
        if len(self._records) < 2 * count:
            return  # to forget a few at a time would cost more than to keep them
        self._num_forgotten += len(self._records) - count
        self._records.keep_latest(count)
        for member in self._members.values():
            member.keep_records(count)

    def _member(self, name: str, model: ModelLike) -> OnlineEvidence:
        """Its seed comes from its name, so that it does not matter which others there are."""
        detector = None if self._detector is None else self._detector.like()
        return OnlineEvidence(model, self.config, named_seed(self.seed, name), self._history, detector)

    def _weigh(
        self, readings: Mapping[str, Reading], num_bad_rows: int, left_out: Mapping[str, LeftOut]
    ) -> tuple[dict[str, Step], dict[str, str]]:
        """What each model makes of the chunk, and which of them cannot continue; raises where the chunk is at fault."""
        steps: dict[str, Step] = {}
        failures: dict[str, str] = {}
        for name, reading in readings.items():
            try:
                own = left_out.get(name, LeftOut())
                steps[name] = self._members[name].weigh(reading, num_bad_rows, left_out=own)
            except (DataError, ModelError) as error:
                raise type(error)(f"model {name!r} refuses the chunk: {error}") from error
            except EstimationError as error:
                failures[name] = str(error)
        if not steps:
            raise EstimationError(f"no model can continue: {failures or self._failures}")
        return steps, failures

    def _read(self, chunk: object) -> dict[str, Reading]:
        """The chunk as each model takes it; where some read rows of their own kind, each has the columns of all."""
        if not self._alive():
            raise EstimationError(f"no model can continue: {self._failures}")
        readings = {name: self._members[name].read(chunk) for name in self._alive()}
        return joined(readings) if any(reading.reader is not None for reading in readings.values()) else readings

    def _record(self, rows: int, by_row: dict[str, np.ndarray] | None) -> ComparisonRecord:
        """Move the weights on by what the models made of the chunk, then note where everybody stands."""
        increments = {name: _last(self._members[name]).increment for name in self._alive()}
        scores = ChunkScores(rows, increments, by_row, self._log_odds, self._standing_weights())
        log_predictive = scores.of_mixture(self._weights)
        self._score += log_predictive
        for name in increments:
            self._scores[name] = self._scores.get(name, 0.0) + scores.of_model(name)
        self._weights = self._combination.updated(self._weights, scores)
        return ComparisonRecord(self._members[next(iter(increments))].num_rows, self.standings, log_predictive)

    def _standing_weights(self) -> dict[str, float]:
        """The probabilities."""
        return shares_of({name: self._log_odds[name] + self._members[name].log_evidence for name in self._alive()})

    def _joined(self, name: str, model: ModelLike) -> OnlineEvidence:
        """A new model that has seen the rows so far, as far as they are kept."""
        member, rows = self._member(name, model), self._history.reach
        ends = joining.cuts(self._records.ends(), not self._num_forgotten and rows == self.num_rows, rows)
        mixture = joining.mixture_of(self._log_odds, {name: self._members[name] for name in self._alive()})
        joining.let_join(member, self._history, ends, self.place.num_bad_rows, mixture)
        return member


def _last(member: OnlineEvidence) -> EvidenceRecord:
    assert member.last_record is not None, "there is no record before the first chunk"
    return member.last_record
