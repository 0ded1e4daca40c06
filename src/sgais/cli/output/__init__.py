"""What is printed, shown and drawn."""
