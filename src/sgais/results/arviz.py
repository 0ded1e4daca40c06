"""Draws and the evidence curve for ArviZ: an `InferenceData` for its versions 0.x, a `DataTree` from 1.0 on."""

import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from sgais.compute.positions import constrain
from sgais.models.base import Model
from sgais.smc.weights import select

CURVE = ("num_rows", "log_evidence", "standard_error", "increment", "annealing_steps")
SEED = 0  # of the draws, which are then the same whenever one asks


def inference_data(
    posterior: Mapping[str, np.ndarray],
    attributes: Mapping[str, object],
    curve: Mapping[str, np.ndarray] | None = None,
    rows: Mapping[str, Mapping[str, np.ndarray]] | None = None,
) -> Any:
    """Join what ArviZ is to know, in the shape that the installed version reads.

    Args:
        posterior: Draws of equal weight by parameter name, shape (chains, draws, ...).
        attributes: Of the group `posterior`.
        curve: Columns of the records; becomes the group `evidence`, with the dimension `chunk`.
        rows: What is known of some rows, by group: log-likelihood, observed data, posterior predictive.
    """
    import xarray

    arviz: Any = importlib.import_module("arviz")  # takes a second, so only who asks for it pays

    group = None
    if curve is not None:
        columns = {name: ("chunk", curve[name]) for name in CURVE}
        group = xarray.Dataset(columns, {"chunk": np.arange(len(curve["num_rows"]))}, dict(attributes))
    if int(arviz.__version__.split(".")[0]) == 0:
        data = arviz.from_dict(posterior=dict(posterior), posterior_attrs=dict(attributes), **(rows or {}))
        if group is not None:
            data.add_groups(evidence=group)
        return data
    data = arviz.from_dict({"posterior": dict(posterior), **(rows or {})}, attrs={"posterior": dict(attributes)})
    if group is not None:
        data["evidence"] = xarray.DataTree(group)
    return data


def equally_weighted(positions: np.ndarray, log_weights: np.ndarray) -> np.ndarray:
    """Draws of equal weight from each island, as many as it has particles.

    Args:
        positions: Shape (islands, particles, d).
        log_weights: Shape (islands, particles).
    """
    generator = np.random.default_rng(SEED)
    chosen = [select(weights, positions.shape[1], generator.random()) for weights in log_weights]
    return np.take_along_axis(positions, np.array(chosen)[:, :, None], axis=1)


def by_parameter(model: Model, positions: np.ndarray) -> dict[str, np.ndarray]:
    """Draws by parameter name, a chain for each island, from positions of shape (islands, draws, d)."""
    num_islands, num_particles, dimension = positions.shape
    parameters = constrain(model, positions.reshape(-1, dimension))
    return {name: values.reshape(num_islands, num_particles, *values.shape[1:]) for name, values in parameters.items()}
