"""Our own methods, as users call them."""

from typing import Any

import sgais
from benchmarks.peers.estimate import Estimate, Run
from benchmarks.peers.target import Target


def prepare(target: Target, seed: int, method: str = "sgais", paper: bool = False) -> Run:
    """Nothing is compiled before: the time that compilation takes during the run is taken off."""
    config: Any = sgais.Config.paper() if paper else None

    def run() -> Estimate:
        result = sgais.estimate(target.model, target.data, method=method, config=config, seed=seed)
        doubt = "" if result.is_complete else result.status
        return Estimate(result.log_evidence, result.standard_error, doubt=doubt)

    return run
