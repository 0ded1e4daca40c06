"""What weighted particles expect of rows that they have not seen."""
