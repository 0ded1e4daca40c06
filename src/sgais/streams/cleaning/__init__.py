"""From rows as a source holds them to columns of numbers."""
