"""Our own methods, as users call them."""

from typing import Any, NamedTuple

import sgais
from benchmarks.peers.estimate import Estimate, Run
from benchmarks.peers.target import Target


class Evaluations(NamedTuple):
    """Over all rows: a chunk of a tenth of them counts as a tenth. None where neither records nor settings tell."""

    likelihoods: int | None = None
    gradients: int | None = None


def prepare(target: Target, seed: int, method: str = "sgais", paper: bool = False) -> Run:
    """Nothing is compiled here: what compilation takes during the run is taken off, or the run is repeated."""
    config: Any = sgais.Config.paper() if paper else None

    def run() -> Estimate:
        result = sgais.estimate(target.model, target.data, method=method, config=config, seed=seed)
        doubt = "" if result.is_complete else result.status
        return Estimate(result.log_evidence, result.standard_error, *evaluations(result, paper), doubt=doubt)

    return run


def evaluations(result: sgais.Result, paper: bool) -> Evaluations:
    """Of a run of the published algorithm, or of a method with its own settings.

    The default's are not told: it sees some rows with many particles and most with one anchor. Nor are those of AIS,
    whose moves are as long as they have to be.
    """
    if paper:
        return _of_published(result, sgais.Config.paper())
    if result.method == "nested":
        return Evaluations(int(result.diagnostics["num_likelihood_evaluations"]))
    return Evaluations()


def _of_published(result: sgais.Result, config: Any) -> Evaluations:
    """Every annealing step of a chunk weighs it once, and moves on it and a mini-batch."""
    frame = result.to_frame()
    chunks = frame["num_rows"].diff().fillna(frame["num_rows"])
    steps = config.num_particles * frame["annealing_steps"]
    moved = config.kernel.num_steps * (chunks + config.batch_size)
    return Evaluations(round((steps * chunks).sum() / result.num_rows), round((steps * moved).sum() / result.num_rows))
