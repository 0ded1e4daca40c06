"""Evidence while the data arrive: stochastic gradient annealed importance sampling (SGAIS)."""

from typing import TYPE_CHECKING, Any

from sgais import cluster, decisions, history, models, simulate, streams, testing
from sgais.changepoints import ChangePoints
from sgais.comparison.comparison import Comparison
from sgais.comparison.records import ComparisonRecord
from sgais.compute.compilation_cache import give_memory_back, keep_programs
from sgais.errors import (
    CheckpointError,
    ConfigError,
    DataError,
    EstimationError,
    HistoryError,
    ModelError,
    SgaisError,
)
from sgais.estimate import estimate
from sgais.estimators.ais.config import AISConfig
from sgais.estimators.default.config import Config
from sgais.estimators.laplace import LaplaceConfig
from sgais.estimators.nested.estimator import NestedConfig
from sgais.fields import Field
from sgais.fleet import Fleet
from sgais.kernels import HMC, SGHMC, ConstrainedSGHMC, Galilean, Langevin
from sgais.models.base import Model
from sgais.models.formula.glm import glm
from sgais.models.programs.numpyro import from_numpyro
from sgais.models.programs.pymc import from_pymc
from sgais.models.ready.gaussian_mixture import mixtures
from sgais.online import OnlineEvidence
from sgais.predictive.prediction import Prediction
from sgais.results.record import EvidenceRecord
from sgais.results.result import Result
from sgais.shift import ShiftDetector
from sgais.smc import annealing
from sgais.streams import stream
from sgais.verdict import Verdict

if TYPE_CHECKING:
    from sgais import notebook, plots

keep_programs()
give_memory_back()

__version__ = "0.1.0"

__all__ = [
    "HMC",
    "SGHMC",
    "AISConfig",
    "ChangePoints",
    "CheckpointError",
    "Comparison",
    "ComparisonRecord",
    "Config",
    "ConfigError",
    "ConstrainedSGHMC",
    "DataError",
    "EstimationError",
    "EvidenceRecord",
    "Field",
    "Fleet",
    "Galilean",
    "HistoryError",
    "Langevin",
    "LaplaceConfig",
    "Model",
    "ModelError",
    "NestedConfig",
    "OnlineEvidence",
    "Prediction",
    "Result",
    "SgaisError",
    "ShiftDetector",
    "Verdict",
    "annealing",
    "cluster",
    "decisions",
    "estimate",
    "from_numpyro",
    "from_pymc",
    "glm",
    "history",
    "mixtures",
    "models",
    "notebook",
    "plots",
    "simulate",
    "stream",
    "streams",
    "testing",
]

LATE = ("notebook", "plots")  # Matplotlib is slow to import


def __dir__() -> list[str]:
    """What is meant for users; the rooms inside are there too, but nobody has to see them."""
    return sorted([*__all__, "__version__"])


def __getattr__(name: str) -> Any:
    """Imported when it is asked for."""
    if name in LATE:
        import importlib

        return importlib.import_module(f"sgais.{name}")
    raise AttributeError(f"module 'sgais' has no attribute {name!r}")
