"""E-processes of a comparison: all other models together against one of them."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from sgais.comparison.probabilities import log_sum
from sgais.decisions.e_values import Decision, EValues, lower_bound_of
from sgais.decisions.maximum_likelihood import MaximumLikelihood
from sgais.errors import ConfigError
from sgais.history import History
from sgais.models.base import Model
from sgais.online import OnlineEvidence

BOUND_BY = 16  # rows, from which a NumPyro program learns its parameters


class _Trial(NamedTuple):
    """One null so far."""

    maximum: MaximumLikelihood
    values: EValues


class Decisions:
    """One e-process for each null that was asked about.

    Args:
        log_odds: Of the models that were there from the first row. Of all of them but the null the alternative is
            made, a
            mixture by these odds; one that joins later has been chosen with the rows in view, and does not count.
    """

    def __init__(self, log_odds: Mapping[str, float]) -> None:
        self._log_odds = dict(log_odds)
        self._trials: dict[str, _Trial] = {}
        self._saved: dict[str, Any] = {}  # trials of a checkpoint, until somebody asks

    def decide(
        self, null: str, level: float, members: Mapping[str, OnlineEvidence], history: History, ends: Sequence[int]
    ) -> Decision:
        """Bring the null's e-process up to the last chunk, and say what it allows.

        Args:
            null: The name of a member.
            level: The largest probability of rejecting a true null.
            members: All models.
            history: All rows.
            ends: The rows seen after each chunk, as far as they are known; fewer looks keep the guarantee.
        """
        if not ends:
            return EValues().decide(level, null)
        if history.reach < history.num_rows:
            raise ConfigError(
                f"`decide` must see all rows, and of {history.num_rows} the history keeps {history.reach}. Use "
                "sgais.history.Memory or Disk."
            )
        trial = self._trial(null, members[null], history)
        pending = [end for end in ends if end > trial.maximum.num_rows]
        lowers = [_lower_bounds(members[name], pending) for name in self._alternatives(null, members)]
        logs = [self._log_odds[name] for name in self._log_odds if name != null]
        shares = [self._log_odds[name] - log_sum(np.array(logs)) for name in self._alternatives(null, members)]
        for end in pending:
            trial.maximum.take_in(history, end)
            found = [share + lower.get(end, -np.inf) for share, lower in zip(shares, lowers, strict=True)]
            trial.values.append(end, log_sum(np.array([-np.inf, *found])), trial.maximum.upper_bound)
        return trial.values.decide(level, null)

    def columns(self, null: str) -> dict[str, np.ndarray]:
        """The e-process of a null so far, column by column."""
        return self._trials[null].values.columns()

    def _alternatives(self, null: str, members: Mapping[str, OnlineEvidence]) -> list[str]:
        return [name for name in self._log_odds if name != null and name in members]

    def _trial(self, null: str, member: OnlineEvidence, history: History) -> _Trial:
        if null not in self._trials:
            model = _bound(member, history)
            saved = self._saved.pop(null, None)
            if saved is None:
                self._trials[null] = _Trial(MaximumLikelihood(model, member.seed), EValues())
            else:
                maximum = MaximumLikelihood.restored(model, saved["maximum"])
                self._trials[null] = _Trial(maximum, EValues.restored(saved["values"]))
        return self._trials[null]

    def state(self) -> dict[str, Any]:
        """For a checkpoint."""
        asked = {
            name: {"maximum": trial.maximum.state(), "values": trial.values.state()}
            for name, trial in self._trials.items()
        }
        return {"log_odds": self._log_odds, "trials": self._saved | asked}

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> "Decisions":
        """What had this state."""
        decisions = cls(state["log_odds"])
        decisions._saved = dict(state["trials"])
        return decisions


def _bound(member: OnlineEvidence, history: History) -> Model:
    return member.model.bind(history.between(0, min(BOUND_BY, history.num_rows)))


def _lower_bounds(member: OnlineEvidence, ends: Sequence[int]) -> dict[int, float]:
    """The log Z of a model after some chunks, its errors taken off.

    Rows that were left out because the model finds them absurd count as impossible: else a true null would be rejected
    too often.
    """
    last, in_full = member.last_record, member.left_out.rows_in_full
    if last is not None and list(ends) == [last.num_rows]:  # the usual case, without a look at the whole curve
        return {last.num_rows: lower_bound_of(last)} if last.num_rows <= in_full else {}
    return {record.num_rows: lower_bound_of(record) for record in member.records if record.num_rows <= in_full}
