"""Log Z of rows that no single host holds: modes, and importance sampling around them by exact sums of workers."""

import os

from sgais.cluster.posterior import ShardedPosterior
from sgais.cluster.shards import Shards, rows_of, shards
from sgais.cluster.workers import Workers
from sgais.errors import require
from sgais.estimators import laplace
from sgais.estimators.laplace import LaplaceConfig
from sgais.models.base import ModelLike, require_model
from sgais.models.reading import ReadingModel
from sgais.progress import Report
from sgais.results.result import Result


def estimate_on(
    workers: Workers, model: ModelLike, data: object, config: LaplaceConfig, seed: int, report: Report
) -> Result:
    """As `sgais.estimate` with `method="laplace"`.

    Args:
        workers: Who sums.
        model: One that takes rows as they are.
        data: The path of Parquet files, or `Shards`.
        config: Of Laplace's method.
        seed: Determines every random number.
        report: Told how far it is.
    """
    require_model(model)
    cure = "Fix its reader on some rows, and pass reader.model with files of what it reads."
    require(not isinstance(model, ReadingModel), "model", "take rows as they are with workers", model, cure)
    is_path = isinstance(data, str | os.PathLike)
    require(
        is_path or isinstance(data, Shards), "data", "be the path of Parquet files with workers", type(data).__name__
    )
    found = data if isinstance(data, Shards) else shards(str(data))
    bound = model.bind(rows_of(found.parts[0], found.columns, model.fields)) if model.bound is None else model.bound
    return laplace.run_on(
        lambda: ShardedPosterior(bound, found, workers, seed), bound, found.num_rows, config, seed, report
    )
