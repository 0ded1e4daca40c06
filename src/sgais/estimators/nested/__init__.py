"""Nested sampling on a whole data set."""
