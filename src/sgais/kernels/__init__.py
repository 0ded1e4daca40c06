"""Markov kernels that move particles towards a distribution, or within a contour."""

from sgais.kernels.constrained_sghmc import ConstrainedSGHMC
from sgais.kernels.galilean import Galilean
from sgais.kernels.hmc import HMC
from sgais.kernels.langevin import Langevin
from sgais.kernels.sghmc import SGHMC

__all__ = ["HMC", "SGHMC", "ConstrainedSGHMC", "Galilean", "Langevin"]
