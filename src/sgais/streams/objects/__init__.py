"""Files that others keep: object stores, and tables made of files."""
