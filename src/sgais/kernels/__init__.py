"""Markov kernels that move particles towards the annealed posterior."""

from sgais.kernels.sghmc import SGHMC

__all__ = ["SGHMC"]
