"""The problems, family by family."""
