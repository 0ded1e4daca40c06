"""One kind of source per file."""
