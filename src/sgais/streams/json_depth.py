"""How deeply JSON is nested, before it is parsed: Python gives up somewhere near a thousand, wherever that happens."""

import re

DEEPEST = 100  # a row is an object of numbers or lists of numbers; what is passed over may be a bit deeper

_TEXTS = re.compile(r'"(?:[^"\\]|\\.)*"?')
_OTHERS = re.compile(r"[^][{}]+")


def is_too_deep(text: str) -> bool:
    """Whether lists and objects stand in each other more than `DEEPEST` deep."""
    if text.count("[") + text.count("{") <= DEEPEST:
        return False
    depth = 0
    for bracket in _OTHERS.sub("", _TEXTS.sub("", text)):
        depth += 1 if bracket in "[{" else -1
        if depth > DEEPEST:
            return True
    return False
