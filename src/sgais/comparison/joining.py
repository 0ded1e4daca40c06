"""Models that join or leave in mid-stream: what a newcomer learns from, and what is forgotten of one that has left."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sgais.comparison.probabilities import log_mixture, log_sum, shares_of
from sgais.errors import ConfigError
from sgais.history import History, Until
from sgais.history.past import Since
from sgais.online import OnlineEvidence
from sgais.results.joined import Joined

CHUNK_ROWS = 500  # where nothing tells how rows were cut


def let_join(
    member: OnlineEvidence, history: History, ends: Sequence[int], num_bad_rows: int, mixture: tuple[float, float]
) -> None:
    """Let a new model take in the rows so far, as far as each of them is kept.

    If all are, it stands where it would if it had been there from the start. If not, it learns from the latest that are
    kept, and its log Z counts from now on: up to here it is given the log Z of the others' mixture.

    Args:
        member: The new model, which has seen nothing.
        history: The rows.
        ends: Where the chunks end that it takes in, see `cuts`.
        num_bad_rows: Rows that were refused so far.
        mixture: Log Z of the models' mixture and its standard error.
    """
    first, row = history.num_rows - history.reach, history.num_rows
    member.join(Joined(first_row=first))
    past, start = Since(history, first), 0
    for end in ends:
        member.accept(member.weigh(past.between(start, end), num_bad_rows, Until(past, start)))
        start = end
    if first:
        log_evidence, standard_error = mixture
        member.join(Joined(first, row, log_evidence - member.log_evidence, standard_error))


def mixture_of(log_odds: Mapping[str, float], members: Mapping[str, OnlineEvidence]) -> tuple[float, float]:
    """Log Z of all models together, by their prior odds, and its standard error."""
    log_evidences = {name: member.log_evidence for name, member in members.items()}
    odds = {name: log_odds[name] for name in members}
    posterior = shares_of({name: odds[name] + log_evidences[name] for name in members})
    errors = [posterior[name] * member.standard_error for name, member in members.items()]
    return log_mixture(shares_of(odds), log_evidences), float(np.linalg.norm(errors))


def mean_log_odds(log_odds: Mapping[str, float]) -> float:
    """The log of the mean of the odds."""
    return log_sum(np.array(list(log_odds.values()))) - float(np.log(len(log_odds)))


def without(content: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """What a checkpoint holds of a comparison, without these models."""
    kept = [name for name in content["log_odds"] if name not in names]
    if not kept:
        raise ConfigError(
            f"`models` must keep at least one of those that were there, {sorted(names)}, got none. Begin a new run."
        )
    found = dict(content)
    for part in ("members", "failures", "log_odds", "weights"):
        found[part] = {name: value for name, value in content[part].items() if name not in names}
    total = sum(found["weights"].values())
    found["weights"] = {name: weight / total for name, weight in found["weights"].items()} if total else {}
    if "scores" in content:
        of_models = {name: score for name, score in content["scores"]["of_models"].items() if name not in names}
        found["scores"] = content["scores"] | {"of_models": of_models}
    detectors = {name: state for name, state in content["watching"]["detectors"].items() if name not in names}
    found["watching"] = content["watching"] | {"detectors": detectors}
    return found


def cuts(ends: Sequence[int], is_whole: bool, num_rows: int) -> list[int]:
    """Where the chunks of so many rows end that a newcomer takes in.

    Args:
        ends: The rows seen after each chunk that is known.
        is_whole: Whether these are all chunks of just these rows; else they are cut as the latest were.
        num_rows: The rows.
    """
    if is_whole:
        return list(ends)
    size = int(np.diff(ends).max()) if len(ends) > 1 else CHUNK_ROWS
    return [*range(size, num_rows, size), num_rows]
