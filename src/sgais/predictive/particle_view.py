"""What is read off the particles of an `OnlineEvidence`: parameters, predictions, groups for ArviZ."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from sgais.compute.positions import constrain
from sgais.errors import require_count
from sgais.fields import Fields
from sgais.history import History
from sgais.history.past import Since
from sgais.models.base import Model, real_dtype
from sgais.models.reading import Reader
from sgais.predictive.posterior_predictive import posterior_predictive, some_rows
from sgais.predictive.prediction import Prediction, predict
from sgais.results.arviz import by_parameter, equally_weighted, inference_data
from sgais.results.curve import Curve
from sgais.results.joined import Joined
from sgais.results.summary import summary_of
from sgais.smc.weights import normalised

if TYPE_CHECKING:
    import pandas as pd


ATTRIBUTES = ("log_evidence", "standard_error", "warning", "seed")


class ParticleView(ABC):
    """Whatever has weighted particles of a model, to read."""

    seed: int
    _estimator: Any
    _reader: Reader | None
    _fields: Fields | None
    _history: History
    _records: Curve
    _joined: Joined

    @abstractmethod
    def _bound_model(self) -> Model: ...

    @abstractmethod
    def _state_for(self, model: Model) -> Any: ...

    def predict(self, inputs: object = None) -> Prediction:
        """What the model expects of rows with these inputs (columns of a chunk, without the observation).

        Ready models can predict, regressions from formulas, and models with a `predictive`.
        """
        model = self._bound_model()
        inputs = inputs if self._reader is None else self._reader.read_inputs(inputs)
        positions = self._estimator.positions_now(self._state_for(model))
        return predict(model, self._fields, positions, self.log_weights, inputs, self.seed)

    def log_prior_ratios(self, other: Model) -> np.ndarray:
        """For each particle the log density under another prior of the same parameters, less that under its own."""
        model = self._bound_model()
        positions = jnp.asarray(self._estimator.positions_now(self._state_for(model)), real_dtype())
        densities = [np.asarray(jax.vmap(one.log_prior_at)(positions), np.float64) for one in (other, model)]
        return densities[0] - densities[1]

    @property
    def particles(self) -> dict[str, np.ndarray]:
        """Draws by parameter name, constrained, leading axis particles; from the prior before any data."""
        model = self._bound_model()
        return constrain(model, self._estimator.positions_now(self._state_for(model)))

    @property
    def in_units(self) -> dict[str, np.ndarray]:
        """The particles in the units of the data: of a formula, the coefficients of its columns as they came."""
        return self._bound_model().in_units(self.particles)

    def summary(self) -> "pd.DataFrame":
        """Mean, standard deviation and quantiles of the parameters, in the units of the data."""
        return summary_of(self.in_units, self.log_weights)

    @property
    def log_weights(self) -> np.ndarray:
        """Normalised log weights of the particles (equal after resampling)."""
        return normalised(self._estimator.log_weights_now(self._state_for(self._bound_model())))

    def to_arviz(self, num_rows: int = 500) -> Any:
        """For ArviZ: equally weighted draws, a chain for each island, and the curve as group `evidence`.

        An `InferenceData` where ArviZ 0.x is installed, a `DataTree` from 1.0 on.

        Args:
            num_rows: Of how many rows, evenly spread over all, there are log-likelihoods, observations and replicates
                (for `arviz.loo`, `arviz.compare`, `arviz.plot_ppc`); 0 for none.
        """
        require_count("num_rows", num_rows, smallest=0)
        model = self._bound_model()
        draws = equally_weighted(*self._estimator.islands_now(self._state_for(model)))
        seen = Since(self._history, self._joined.first_row)
        some = some_rows(seen, num_rows) if num_rows and seen.num_rows else None
        rows = None if some is None else posterior_predictive(model, draws, some, self.seed)
        attributes = {name: getattr(self, name) for name in ATTRIBUTES}
        return inference_data(by_parameter(model, draws), attributes, self._records.columns(), rows)
