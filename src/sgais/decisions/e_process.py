"""EProcess: may a null be rejected now, at any time, with a guarantee?

Universal inference (Wasserman, Ramdas and Balakrishnan, PNAS 2020): under a null with parameters theta_0, the ratio
Z / p(rows | theta_0) of an alternative's evidence to the likelihood is a martingale that starts at 1, and so, by
Ville's inequality, exceeds 1 / level at any time with probability level at most. The largest likelihood of the null
makes the ratio smaller still, whatever theta_0 is.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from sgais import checkpoint
from sgais.decisions.e_values import Decision, EValue, EValues, lower_bound_of, require_level
from sgais.decisions.maximum_likelihood import MaximumLikelihood
from sgais.errors import SgaisError, require
from sgais.estimators.annealing_config import PaperConfig
from sgais.estimators.default.config import Config
from sgais.history import History, Memory, Reservoir
from sgais.history.saved import restored_history, saved_history
from sgais.models import fingerprint
from sgais.models.base import ModelLike, require_model
from sgais.models.reading import Reading
from sgais.online import SAVED_TYPES, OnlineEvidence
from sgais.predictive.outliers import RAISE, Behind, sifted
from sgais.results.step import Step
from sgais.run_loop import Place, Streamed


class EProcess(Streamed[EValue]):
    """Evidence against a null that may be looked at after every chunk, and stopped at whenever one likes.

    Args:
        alternative: A model with a prior; the more probable it makes the rows, the sooner the null is rejected. Any
            prior keeps the guarantee.
        null: A model whose parameters may have any values; its prior does not count.
        config: The estimator's parameters, for the evidence of the alternative.
        seed: Determines every random number.
        history: How the rows are kept: all of them, in memory (the default) or in a file (`sgais.history.Disk`).

    Example:
        >>> data = sgais.simulate.linear_regression(400, dim=2).data
        >>> null = sgais.models.LinearRegression(dim=2, features=(0,))
        >>> process = sgais.decisions.EProcess(sgais.models.LinearRegression(dim=2), null)
        >>> for chunk in sgais.stream(data, chunk_size=200):
        ...     value = process.update(chunk)
        >>> process.decide(level=0.05).verdict in ("reject", "not yet")
        True
    """

    def __init__(
        self,
        alternative: ModelLike,
        null: ModelLike,
        config: Config | PaperConfig | None = None,
        seed: int = 0,
        history: History | None = None,
    ) -> None:
        require_model(null, "null")
        self._history: History = Memory() if history is None else history
        cure = "Use sgais.history.Memory or Disk."
        require(not isinstance(history, Reservoir), "history", "keep all rows", history, cure)
        self._alternative = OnlineEvidence(alternative, config, seed, self._history)
        self._null, self._bound_null = null, null.bound
        self._maximum: MaximumLikelihood | None = None
        self._values = EValues()
        self.place = Place()

    def take_in(self, chunk: object, num_bad_rows: int) -> EValue:
        """What the run loop does with each chunk: all of `update`, but for where the stream stands behind it."""
        step = self._weighed(chunk, num_bad_rows)
        maximum = self._maximum
        if maximum is None:
            null = self._null.bind(step.rows)
            null.check_log_likelihood(step.rows)
            self._bound_null = null
            maximum = MaximumLikelihood(null, self._alternative.seed)
        self._history.append(step.rows)
        self._alternative.accept(step)
        self._maximum = maximum
        maximum.take_in(self._history, step.record.num_rows)
        return self._values.append(step.record.num_rows, lower_bound_of(step.record), maximum.upper_bound)

    def _weighed(self, chunk: object, num_bad_rows: int) -> Step:
        """The chunk, weighed by the alternative; one with an absurd row is refused, for it cannot be left out.

        A row that is left out because the alternative did not expect it would no longer speak for the null, and a true
        null would be rejected too often.
        """
        evidence = self._alternative

        def weigh(readings: Mapping[str, Reading], _: object) -> tuple[dict[str, Step], dict[str, str]]:
            return {"": evidence.weigh(readings[""], num_bad_rows)}, {}

        readings, behind = {"": evidence.read(chunk)}, Behind(self.place.position, self.num_rows)
        found = sifted(readings, weigh, lambda _, reading: evidence.outliers(reading), RAISE, behind)
        return cast(Step, found.steps[""])

    @property
    def last_record(self) -> EValue | None:
        """The newest point of the e-process."""
        return self._values.last

    def decide(self, level: float = 0.05) -> Decision:
        """Whether the null may be rejected at this level, and since which row."""
        return self._values.decide(level, repr(self._null))

    def rejects(self, level: float = 0.05) -> bool:
        """Whether the null was rejected at any chunk so far; a true one ever is with probability `level` at most."""
        return self.decide(require_level(level)).verdict == "reject"

    @property
    def alternative(self) -> OnlineEvidence:
        """The evidence of the alternative."""
        return self._alternative

    @property
    def num_rows(self) -> int:
        """Rows seen so far."""
        return self._alternative.num_rows

    @property
    def log_e(self) -> float:
        """The log of the e-process now; 0 before the first row, -inf while the null has no largest likelihood."""
        return self._values.last.log_e if self._values.last else 0.0

    @property
    def records(self) -> tuple[EValue, ...]:
        """The e-process so far, one record per chunk."""
        return tuple(self._values)

    def save(self, path: str | Path) -> None:
        """Write everything that the future depends on to a file, as `OnlineEvidence.save` does."""
        if self._maximum is None or self._bound_null is None:
            raise SgaisError("there is nothing to save before the first chunk. Push one first.")
        some_rows = self._history.between(0, min(16, self.num_rows))
        position, folder = self._maximum.position, Path(path).parent
        checkpoint.write(
            path,
            {
                "alternative": self._alternative.saved(),
                "maximum": self._maximum.state(),
                "null": None if position is None else fingerprint.take(self._bound_null, position, some_rows),
                "values": self._values.state(),
                "place": self.place,
                "history": saved_history(self._history, folder),
            },
        )

    @classmethod
    def load(cls, path: str | Path, alternative: ModelLike, null: ModelLike) -> "EProcess":
        """Resume from a checkpoint: every later bit is as if there had been no break."""
        with checkpoint.offering_previous(path):
            content = checkpoint.read(path, SAVED_TYPES)
            checkpoint.require_part(path, content, "maximum", cls.__name__)
            folder = Path(path).parent
            history = restored_history(content["history"], folder)
            process = cls(alternative, null, history=history)
            process._restore(content, alternative)
            return process

    def _restore(self, content: dict[str, Any], alternative: ModelLike) -> None:
        self._alternative = OnlineEvidence.restored(content["alternative"], alternative, self._history)
        self._bound_null = self._null.bind(self._history.between(0, min(16, self._history.num_rows)))
        if content["null"] is not None:
            fingerprint.compare(self._bound_null, content["null"])
        self._maximum = MaximumLikelihood.restored(self._bound_null, content["maximum"])
        self._values = EValues.restored(content["values"])
        self.place = replace(content["place"], is_resumed=True)

    def __repr__(self) -> str:
        known = f"num_rows={self.num_rows}, log_e={self.log_e:.4g}"
        return f"EProcess({self._alternative.model!r}, {self._null!r}, {known})"
