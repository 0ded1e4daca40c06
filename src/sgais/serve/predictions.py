"""What the models expect, averaged: computed beside the stream, from a copy of the comparison."""

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sgais.comparison.comparison import Comparison
from sgais.errors import DataError, ModelError, SgaisError
from sgais.fields import Chunk, num_rows
from sgais.predictive.prediction import Prediction
from sgais.serve.refusal import RefusalError

LEVELS = (0.05, 0.5, 0.95)
SIZES = (1, 8, 64, 512, 4096)  # rows are padded to one of these: every new size is compiled
MOST_ROWS = SIZES[-1]
MOST_AT_ONCE = 4


class Forecaster(NamedTuple):
    """The models as they were after a chunk; it may be asked while they continue.

    Attributes:
        comparison: A frozen copy.
        num_rows: The rows that they had seen.
        weights: The models' shares in the mixture.
    """

    comparison: Comparison
    num_rows: int
    weights: dict[str, float]

    @classmethod
    def of(cls, comparison: Comparison) -> "Forecaster":
        """The models as they are now."""
        return cls(comparison.frozen(), comparison.num_rows, comparison.probabilities)


class Predictions:
    """Answers questions, a few at a time."""

    def __init__(self) -> None:
        self._num_running = 0

    async def predict(self, forecaster: Forecaster, read_inputs: Callable[[], Chunk]) -> dict[str, Any]:
        """The mixture's mean or class probabilities, and quantiles, for each row that is read."""
        if forecaster.num_rows == 0:
            raise RefusalError(409, "there is nothing to predict from before the first chunk.", retry_after=5)
        if self._num_running >= MOST_AT_ONCE:
            raise RefusalError(429, "too many predictions at once.", retry_after=1)
        self._num_running += 1
        try:
            return await asyncio.to_thread(_answer, forecaster, read_inputs)
        except (DataError, ModelError) as error:
            raise RefusalError(422, str(error), row=None, column=None) from error
        except SgaisError as error:
            raise RefusalError(409, str(error)) from error
        finally:
            self._num_running -= 1


def _answer(forecaster: Forecaster, read_inputs: Callable[[], Chunk]) -> dict[str, Any]:
    inputs = read_inputs()
    if inputs and num_rows(inputs) > MOST_ROWS:
        raise RefusalError(413, f"at most {MOST_ROWS} rows can be predicted at once, got {num_rows(inputs)}.")
    count = num_rows(inputs) if inputs else None  # without inputs there is one answer, not one per row
    prediction = forecaster.comparison.predict(_padded(inputs) if inputs else None)
    mean, probabilities, quantiles = _cut(prediction, count)
    return {
        "num_rows_seen": forecaster.num_rows,
        "model_weights": forecaster.weights,
        "mean": mean,
        "probabilities": probabilities,
        "quantiles": quantiles,
    }


def _padded(inputs: Chunk) -> Chunk:
    count = num_rows(inputs)
    missing = next(size for size in SIZES if size >= count) - count
    return {name: np.concatenate([values, np.repeat(values[-1:], missing, axis=0)]) for name, values in inputs.items()}


def _cut(prediction: Prediction, count: int | None) -> tuple[Any, Any, Any]:
    """As plain lists, without the rows that were added."""
    mean = None if prediction.mean is None else np.asarray(prediction.mean)[:count].tolist()
    if prediction.probabilities is not None:  # quantiles of labels mean nothing
        return mean, prediction.probabilities[:count].tolist(), None
    quantiles = prediction.quantiles(LEVELS)
    return mean, None, {str(level): each[:count].tolist() for level, each in zip(LEVELS, quantiles, strict=True)}
