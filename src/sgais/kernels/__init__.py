"""Markov kernels that move particles towards the annealed posterior."""

from sgais.kernels.hmc import HMC
from sgais.kernels.sghmc import SGHMC

__all__ = ["HMC", "SGHMC"]
