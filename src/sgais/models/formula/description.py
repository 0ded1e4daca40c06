"""A regression in words: what is counted in which units, and under which priors."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sgais.models.formula.columns import Kind
from sgais.models.formula.families.base import IDENTITY, LOG, Family
from sgais.models.formula.model import FormulaModel
from sgais.models.formula.priors import in_words

if TYPE_CHECKING:
    from sgais.models.formula.glm import Options

MOST_SHOWN = 12  # levels


def unbound(text: str, family: Family, options: "Options") -> str:
    """Before the first rows."""
    lines = [f"{text}", f"  family {family.name}, link {family.link}"]
    lines += [f"  levels of {name}: {_some(list(map(str, levels)))}" for name, levels in options.levels.items()]
    lines.append("  The first rows fix levels, centres, scales and priors; print(model.reader(rows)) shows them.")
    return "\n".join(lines)


def bound(text: str, model: FormulaModel, kinds: Mapping[str, Kind]) -> str:
    """With all that the first rows have fixed."""
    parts = model.parts
    units = parts.response.units
    lines = [f"{text}", f"  family {parts.family.name}, link {parts.family.link}"]
    if parts.family.link == IDENTITY:
        lines.append(f"  response in units of {units.scale:.6g}, from {units.location:.6g}")
    elif parts.family.link == LOG:
        lines.append(f"  linear predictor from {units.location:.6g}, response in units of {units.scale:.6g}")
    for name, kind in kinds.items():
        if kind.name == "category":
            lines.append(f"  levels of {name}: {_some(list(kind.levels))}")
    lines.append("  columns of the design (less centre, divided by scale):")
    for block in parts.blocks:
        for name, centre, scale in zip(block.columns, block.centre, block.scale, strict=True):
            lines.append(f"    {name}: centre {centre:.6g}, scale {scale:.6g}")
    for group in parts.groups:
        form = "centred" if group.is_centred else "non-centred"
        lines.append(f"  {', '.join(group.coefficients)} by {group.group.by}: {group.num_groups} groups, {form}")
    lines.append("  priors, in these units:")
    lines += [f"    {name} ~ {in_words(prior)}" for name, prior in model.prior.items()]
    return "\n".join(lines)


def _some(levels: list[str]) -> str:
    shown = ", ".join(levels[:MOST_SHOWN])
    return shown + (f" and {len(levels) - MOST_SHOWN} more" if len(levels) > MOST_SHOWN else "")
