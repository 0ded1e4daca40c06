"""When is slower too slow?"""

SLOWDOWN = 1.3  # times the baseline


def slower(baseline: dict[str, float], measured: dict[str, float]) -> list[str]:
    """What has become slower by more than `SLOWDOWN` allows, or was not measured."""
    return [name for name, before in baseline.items() if not measured.get(name, float("inf")) <= SLOWDOWN * before]
