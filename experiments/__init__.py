"""Experiments of the paper; each script writes its own tables and figures."""
