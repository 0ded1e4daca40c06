"""A run from its settings, its folder, and its end."""
