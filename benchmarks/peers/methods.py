"""The methods that are compared: which adapter runs them, with which options, in which environment."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

OURS = ""  # the environment of the project itself
DEFAULT, PUBLISHED = "sgais", "sgais, as published"


@dataclass(frozen=True)
class Method:
    """A method.

    Attributes:
        adapter: A module of `adapters`.
        environment: A name of `environments`, or `OURS`.
        options: Of the adapter's `prepare`.
    """

    adapter: str
    environment: str = OURS
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_peer(self) -> bool:
        """Whether it is of another library."""
        return self.environment != OURS


METHODS = {
    DEFAULT: Method("ours"),
    PUBLISHED: Method("ours", options={"paper": True}),
    "our AIS": Method("ours", options={"method": "ais"}),
    "our nested sampling": Method("ours", options={"method": "nested"}),
    "our Laplace": Method("ours", options={"method": "laplace"}),
    "BlackJAX SMC, 100 particles": Method("blackjax_smc", "blackjax", {"num_particles": 100}),
    "BlackJAX SMC, 1000 particles": Method("blackjax_smc", "blackjax", {"num_particles": 1000}),
    "BlackJAX nested slices": Method("blackjax_nested", "blackjax"),
    "particles, waste-free SMC": Method("particles_smc", "particles"),
    "particles, IBIS": Method("particles_smc", "particles", {"along_data": True}),
    "dynesty": Method("dynesty_nested", "dynesty"),
    "UltraNest": Method("ultranest_nested", "ultranest"),
    "nautilus": Method("nautilus_nested", "nautilus"),
    "JAXNS": Method("jaxns_nested", "jaxns"),
    "PyMC SMC": Method("pymc_smc", "pymc"),
}

# They compile as they go. What is started for the first time costs more than its compilation, and some of them take
# less than a second: their second run is timed, as peers' programs are compiled before their time begins.
COMPILED_BY_A_FIRST_RUN = (DEFAULT, PUBLISHED)
