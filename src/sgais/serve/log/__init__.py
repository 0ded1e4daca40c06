"""The write-ahead log."""
