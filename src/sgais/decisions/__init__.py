"""Stopping with a guarantee: e-processes by universal inference, and what they decide."""

from sgais.decisions.e_process import EProcess
from sgais.decisions.e_values import Decision, EValue

__all__ = ["Decision", "EProcess", "EValue"]
