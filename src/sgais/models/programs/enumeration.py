"""Discrete latents of a NumPyro program, summed out of the density of each row.

Funsor sums over all values that sites can have, in mixtures and along the scan of a hidden Markov model. It gives one
number for all rows, so the program is run on one row at a time, many times side by side, with its prior masked.
"""

import importlib
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
from numpyro import handlers
from numpyro.distributions import TransformedDistribution
from numpyro.primitives import Messenger

from sgais.errors import ModelError
from sgais.models.base import Parameters, Rows

Site = dict[str, Any]


def plate_depth(trace: Mapping[str, Site]) -> int:
    """How many dimensions plates take up, counted from the right; sums go to the left of them."""
    return max(-frame.dim for site in trace.values() for frame in site.get("cond_indep_stack", ()))


def kind_of(site: Site) -> str:
    """The name of a site's distribution, as its author wrote it."""
    distribution = site["fn"]
    while hasattr(distribution, "base_dist") and not isinstance(distribution, TransformedDistribution):
        distribution = distribution.base_dist
    return type(distribution).__name__


def check_discrete(name: str, site: Site, plates: list[str], plate: str) -> None:
    """Refuse a discrete latent that cannot be summed out row by row."""
    kind = kind_of(site)
    if plate not in plates:
        raise ModelError(
            f"the latent site '{name}' is discrete ({kind}) and shared by all rows, which then would not count one by "
            "one. Write a model for each of its values and compare them, or put it into the data plate."
        )
    if not site["fn"].has_enumerate_support:
        raise ModelError(
            f"the latent site '{name}' is discrete ({kind}) without a finite list of values. Sum it out of the "
            "likelihood by hand, e.g. a Poisson with Gamma rate is a NegativeBinomial2."
        )
    require_funsor()


def require_funsor() -> Any:
    """NumPyro's part that works with Funsor."""
    try:
        return importlib.import_module("numpyro.contrib.funsor")
    except ImportError as error:
        raise ModelError(
            "discrete latent sites must have Funsor to be summed out, got none. Install it: "
            "pip install '.[enumeration]' in a clone."
        ) from error


def row_log_likelihood(program: Callable[..., Any], parameters: Parameters, rows: Rows, depth: int) -> jax.Array:
    """The log density of every row, all discrete latents summed out.

    Args:
        program: The NumPyro program.
        parameters: Its continuous latents.
        rows: The columns of a chunk.
        depth: How many dimensions its plates take up.
    """
    funsor = require_funsor()

    def of_one(row: Rows) -> jax.Array:
        substituted = handlers.substitute(program, data=parameters)
        seeded = handlers.seed(_WithoutPrior(substituted, set(parameters)), rng_seed=0)
        summed = funsor.enum(funsor.config_enumerate(seeded), -1 - depth)
        return funsor.log_density(summed, (), {name: value[None] for name, value in row.items()}, {})[0]

    return jax.vmap(of_one)({name: jnp.asarray(values) for name, values in rows.items()})


class _WithoutPrior(Messenger):
    """Counts the densities of some sites as zero, so that nothing large has to be taken off again."""

    def __init__(self, program: Callable[..., Any], names: set[str]) -> None:
        super().__init__(program)
        self._names = names

    def process_message(self, msg: Site) -> None:
        if msg["type"] == "sample" and msg["name"] in self._names:
            msg["fn"] = msg["fn"].mask(False)
