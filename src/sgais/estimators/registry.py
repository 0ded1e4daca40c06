"""Every online estimator, by the type of its parameters."""

from typing import TypeAlias

from sgais.estimators import paper
from sgais.estimators.annealing_config import PaperConfig
from sgais.estimators.base import Estimator
from sgais.estimators.default import estimator as default
from sgais.estimators.default.config import Config
from sgais.estimators.importance import estimator as importance
from sgais.estimators.importance.config import ImportanceConfig

OnlineConfig: TypeAlias = Config | PaperConfig | ImportanceConfig
ESTIMATORS: dict[type, Estimator] = {Config: default, PaperConfig: paper, ImportanceConfig: importance}
SAVED_TYPES = (*ESTIMATORS, *(kind for estimator in ESTIMATORS.values() for kind in estimator.SAVED_TYPES))
