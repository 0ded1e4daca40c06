"""What is returned, recorded and exported."""
