"""Experiments, which use public names only; each folder writes its own tables and figures."""
