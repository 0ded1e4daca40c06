"""Tables and queries of databases, read in the order of a key."""
