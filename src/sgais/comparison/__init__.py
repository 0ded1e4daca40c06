"""Many models on one stream."""
