"""Annealed importance sampling on a whole data set."""
