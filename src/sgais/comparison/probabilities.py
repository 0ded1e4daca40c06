"""From log evidences to probabilities of models, with what the errors of the evidences leave open."""

from collections.abc import Mapping

import numpy as np
from scipy.special import expit

from sgais.errors import is_number, require
from sgais.results.bands import BAND


def with_bands(log_posteriors: np.ndarray, errors: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Probabilities, and the bands that independent errors of the log evidences leave them; models are the last axis.

    For each model the log odds against all others together, three standard errors up and down: the error of the
    others' sum is that of its parts by their shares (delta method).
    """
    count = log_posteriors.shape[-1]
    probabilities = _scaled(log_posteriors)
    if count == 1:
        return probabilities, probabilities, probabilities
    lows, highs = np.empty(log_posteriors.shape), np.empty(log_posteriors.shape)
    known = np.where(np.isnan(log_posteriors), -np.inf, log_posteriors)
    for number in range(count):
        others = np.delete(known, number, axis=-1)
        total = np.logaddexp.reduce(others, axis=-1)
        parts = _scaled(others) * np.delete(errors, number, axis=-1)
        error = np.hypot(errors[..., number], np.linalg.norm(parts, axis=-1))
        with np.errstate(invalid="ignore"):
            log_odds = known[..., number] - total
            is_known = np.isfinite(error) & ~np.isnan(log_odds)  # else nobody knows, as in paper mode
            lows[..., number] = np.where(is_known, expit(log_odds - BAND * error), 0.0)
            highs[..., number] = np.where(is_known, expit(log_odds + BAND * error), 1.0)
    return probabilities, lows, highs


def log_prior_odds(names: list[str], prior_odds: Mapping[str, float] | None) -> dict[str, float]:
    """The logs of prior odds that have been checked; all alike if none are given."""
    is_mapping = prior_odds is None or isinstance(prior_odds, Mapping)
    require(is_mapping, "prior_odds", "be a dictionary of numbers by name", prior_odds)
    odds = dict.fromkeys(names, 1.0) if prior_odds is None else dict(prior_odds)
    require(sorted(odds) == sorted(names), "prior_odds", f"name the models {sorted(names)}", sorted(odds))
    for name, value in odds.items():
        require(is_number(value) and 0 < value < np.inf, "prior_odds", "be positive numbers", {name: value})
    return {name: float(np.log(odds[name])) for name in names}


def shares_of(logs: Mapping[str, float]) -> dict[str, float]:
    """Numbers with these logs, scaled to sum to one."""
    return dict(zip(logs, _scaled(np.array(list(logs.values()))).tolist(), strict=True))


def _scaled(logs: np.ndarray) -> np.ndarray:
    """Numbers with these logs, scaled to sum to one whatever they are; what is not known (NaN) has no share.

    The largest is taken off first: of logs of 1e16 the sum's own would be off by more than one.
    """
    known = np.where(np.isnan(logs), -np.inf, logs)
    top = known.max(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore"):
        shares = np.where(np.isfinite(top), np.exp(known - top), (known == top).astype(float))
    return shares / shares.sum(axis=-1, keepdims=True)


def log_mixture(weights: Mapping[str, float], logs: Mapping[str, float]) -> float:
    """The log of the weighted mean of numbers with these logs."""
    shares = np.array([weights[name] for name in logs])
    with np.errstate(divide="ignore"):  # a model that counts nothing
        return log_sum(np.array(list(logs.values())) + np.log(shares / shares.sum()))


def log_sum(logs: np.ndarray) -> float:
    """The log of the sum of a few numbers with these logs; SciPy's takes a hundred times as long for so few."""
    return float(np.logaddexp.reduce(logs))
