"""Is this the model that the checkpoint was made with?"""

from typing import Any

import jax.numpy as jnp
import numpy as np

from sgais.errors import CheckpointError
from sgais.fields import Chunk
from sgais.models.base import Model, real_dtype

TOLERANCE = 1e-3  # relative; another machine rounds otherwise


def take(model: Model, position: np.ndarray, rows: Chunk) -> dict[str, Any]:
    """The names and shapes of the parameters, and the log density at one position, of the prior and of some rows."""
    return {
        "parameters": {name: list(part.shape) for name, part in model.layout.items()},
        "position": np.asarray(position, np.float64),
        "rows": rows,
        "log_prior": _log_prior(model, position),
        "log_likelihood": _log_likelihood(model, position, rows),
    }


def compare(model: Model, fingerprint: dict[str, Any]) -> None:
    """Refuse a model that is not the one of the fingerprint, and say where they differ."""
    found = {name: list(part.shape) for name, part in model.layout.items()}
    if found != fingerprint["parameters"]:
        raise CheckpointError(
            f"`model` must be the one that was saved, with parameters {fingerprint['parameters']}, got {found}. "
            "Pass the same model."
        )
    position, rows = fingerprint["position"], fingerprint["rows"]
    for name, now in (
        ("log_prior", _log_prior(model, position)),
        ("log_likelihood", _log_likelihood(model, position, rows)),
    ):
        then = fingerprint[name]
        if not abs(now - then) <= TOLERANCE * (1.0 + abs(then)):
            raise CheckpointError(
                f"`model` must be the one that was saved, with a {name.replace('_', '-')} of {then:.6g} at a stored "
                f"particle, got {now:.6g}. The parameters have the same names and shapes: look for other constants."
            )


def _log_prior(model: Model, position: np.ndarray) -> float:
    return float(model.log_prior_at(jnp.asarray(position, real_dtype())))


def _log_likelihood(model: Model, position: np.ndarray, rows: Chunk) -> float:
    pointwise = np.asarray(model.log_likelihood_at(jnp.asarray(position, real_dtype()), rows), np.float64)
    # A row that the particle rules out would hide all others.
    return float(pointwise[np.isfinite(pointwise)].sum())
