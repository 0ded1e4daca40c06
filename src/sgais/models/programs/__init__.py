"""Models that were written as programs of other libraries."""
