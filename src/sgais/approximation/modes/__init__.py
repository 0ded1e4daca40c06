"""Where the modes of a posterior are: ascents, where they begin, and which of their ends are one."""
