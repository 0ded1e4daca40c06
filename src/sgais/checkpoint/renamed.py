"""What records and their fields were called when older versions saved them.

Checkpoints keep the names of types and fields. A class that is renamed, or a field of it, gets an entry here; the test
of kept checkpoints fails where one is missing.
"""

from typing import Any

TYPES = {"Early": "ExactPhase", "Late": "QuadraticPhase", "Wide": "GradientPhase"}
FIELDS = {"State": {"early": "exact", "late": "quadratic", "wide": "gradient"}}  # of types by their present names


def with_present_names(name: str, fields: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A record's name and fields as the classes of this version have them."""
    name = TYPES.get(name, name)
    renamed = FIELDS.get(name, {})
    return name, {renamed.get(field, field): value for field, value in fields.items()}
