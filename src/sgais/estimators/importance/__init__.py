"""Evidence of few rows by importance sampling, for many keys in one compiled call."""
