"""Approximations of a posterior near its modes, for Laplace's method and the default alike."""
