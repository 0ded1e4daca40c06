"""Results as JSON takes them."""

import math
from typing import Any


def plain(value: Any) -> Any:
    """Plain values only; JSON has no NaN and no infinity, and null stands for them."""
    if isinstance(value, dict):
        return {name: plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
