"""Measurements of accuracy and speed; each script prints its own table."""
