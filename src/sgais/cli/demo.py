"""`sgais demo`."""


def demo() -> None:
    """Demo."""
