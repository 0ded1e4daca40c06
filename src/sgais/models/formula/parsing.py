"""The text of a formula, taken apart: response, terms, groups and offsets. No data are looked at."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from sgais.errors import ConfigError, require
from sgais.models.formula.safety import Expression, checked

MOST_CHARACTERS = 2000
LARGEST_POWER = 3  # of a sum of terms: each step multiplies their number


class Group(NamedTuple):
    """Coefficients that differ from group to group: `(x | firm)`.

    Attributes:
        by: The column, or several joined by colons, whose values are the groups.
        has_intercept: Whether each group has an intercept of its own.
        slopes: The terms whose coefficients each group has of its own.
        is_correlated: Whether these are correlated a priori; `||` says that they are not.
    """

    by: str
    has_intercept: bool
    slopes: tuple[str, ...]
    is_correlated: bool

    @property
    def columns(self) -> tuple[str, ...]:
        """Those that tell the groups apart."""
        return tuple(part.strip() for part in self.by.split(":"))


class Formula(NamedTuple):
    """What a formula says.

    Attributes:
        text: The formula.
        response: The expression left of the tilde.
        has_intercept: Whether there is one.
        terms: For each term, in order, the expressions that are multiplied with each other.
        groups: Coefficients that differ from group to group.
        offsets: Expressions that are added with a coefficient of one.
    """

    text: str
    response: Expression
    has_intercept: bool
    terms: dict[str, tuple[Expression, ...]]
    groups: tuple[Group, ...]
    offsets: tuple[Expression, ...]

    @property
    def expressions(self) -> list[Expression]:
        """All of them, but for the groups."""
        return [self.response, *(part for parts in self.terms.values() for part in parts), *self.offsets]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the data that it needs."""
        named = [name for one in self.expressions for name in one.columns]
        grouping = [name for group in self.groups for name in group.columns]
        return tuple(dict.fromkeys([*named, *grouping]))

    @property
    def categories(self) -> set[str]:
        """Columns that are categories whatever they hold, because the formula says so."""
        grouping = {name for group in self.groups for name in group.columns}
        return grouping | {column for one in self.expressions for name, column in one.calls if name == "C"}


def parse(text: str) -> Formula:
    """Read a formula; every expression in it has been found harmless afterwards."""
    require(isinstance(text, str), "formula", "be text such as 'y ~ x'", text)
    require(len(text) <= MOST_CHARACTERS, "formula", f"have at most {MOST_CHARACTERS} characters", len(text))
    left, tilde, right = text.partition("~")
    is_whole = bool(tilde) and bool(left.strip()) and "~" not in right and right.strip() != ""
    require(is_whole, "formula", "read RESPONSE ~ TERMS", text, "Write e.g. 'invest ~ value + capital'.")
    for power in re.findall(r"\)\s*(?:\*\*|\^)\s*(\d+)", right):
        require(int(power) <= LARGEST_POWER, "formula", f"have sums to the power of {LARGEST_POWER} at most", text)
    fixed, bars = _without_groups(right)
    has_intercept, terms = _terms(fixed or "1", text)
    groups = tuple(_group(bar, text) for bar in bars)
    offsets = [name for name, parts in terms.items() if len(parts) == 1 and parts[0].text.startswith("offset(")]
    added = tuple(checked(terms.pop(name)[0].text) for name in offsets)
    terms = _with_slopes(terms, groups)
    for name, parts in terms.items():
        if any(call == "offset" for part in parts for call, _ in part.calls):
            raise ConfigError(f"`formula` must have offsets as terms of their own, got {name!r}.")
    return Formula(text.strip(), checked(left.strip()), has_intercept, terms, groups, added)


def _with_slopes(
    terms: dict[str, tuple[Expression, ...]], groups: tuple[Group, ...]
) -> dict[str, tuple[Expression, ...]]:
    """Refuse slopes that vary around nothing: `(x | firm)` without `x` says that the mean slope is zero."""
    for group in groups:
        for slope in group.slopes:
            if slope not in terms:
                raise ConfigError(
                    f"`formula` must have {slope!r} as a term of its own where it varies by {group.by!r}, got no such "
                    f"term. Add '+ {slope}'."
                )
    return terms


def _terms(text: str, formula: str) -> tuple[bool, dict[str, tuple[Expression, ...]]]:
    """Whether there is an intercept, and the expressions that each of the other terms multiplies."""
    import formulaic  # takes a while to import
    from formulaic.errors import FormulaicError

    try:
        parsed = formulaic.Formula(text)
        found = list(parsed) if isinstance(parsed, formulaic.SimpleFormula) else None
    except (FormulaicError, SyntaxError, ValueError, TypeError, AttributeError) as error:
        raise ConfigError(f"`formula` must be one that can be read, got {formula!r}: {_first_line(error)}.") from error
    if found is None:
        raise ConfigError(f"`formula` must have groups in parentheses, as in (1 | firm), got {formula!r}.")
    has_intercept, terms = False, {}
    for term in found:
        parts = [factor.expr for factor in term.factors]
        if parts == ["1"]:
            has_intercept = True
            continue
        terms[str(term)] = tuple(
            _expression(part, factor.eval_method.value) for part, factor in zip(parts, term.factors, strict=True)
        )
    return has_intercept, terms


def _expression(text: str, method: str) -> Expression:
    if method == "lookup":  # a column, also one with a name that is no identifier
        return Expression(text, (text,), ())
    if method == "literal":
        raise ConfigError(f"`formula` must multiply columns, got the number {text}. Drop it, or write I({text} * x).")
    return checked(text)


def _group(text: str, formula: str) -> Group:
    left, bar, by = text.partition("||") if "||" in text else text.partition("|")
    names = [part.strip().strip("`") for part in by.split(":")]
    is_named = all(re.fullmatch(r"[^\W\d][\w. ]*", name) for name in names)
    require(is_named, "formula", "group by a column, as (1 | firm) or (x | firm:year)", formula)
    has_intercept, terms = _terms(left.strip() or "1", formula)
    if not has_intercept and not terms:
        raise ConfigError(f"`formula` must let something vary by {by.strip()!r}, got ({text}).")
    return Group(":".join(names), has_intercept, tuple(terms), bar == "|" and has_intercept + len(terms) > 1)


def _without_groups(text: str) -> tuple[str, list[str]]:
    """The text without its `(... | ...)`, and these."""
    found, kept, end = [], "", 0
    for start, stop in _parentheses(text):
        inside = text[start + 1 : stop]
        if "|" in inside and start >= end:
            found.append(inside)
            kept, end = kept + text[end:start], stop + 1
    kept += text[end:]
    # What joined a group to the other terms is left behind.
    kept = re.sub(r"\+\s*(?=\+|-|$)", "", kept.strip()).strip()
    return re.sub(r"^\+", "", kept).strip(), found


def _parentheses(text: str) -> Iterator[tuple[int, int]]:
    """Where each outermost pair begins and ends."""
    depth, start = 0, 0
    for place, character in enumerate(text):
        if character == "(":
            depth += 1
            start = place if depth == 1 else start
        elif character == ")":
            depth -= 1
            if depth == 0:
                yield start, place


def _first_line(error: Exception) -> str:
    return (
        re.sub(r"\x1b\[[\d;]*m|[⧛⧚]", "", str(error)).splitlines()[0].rstrip(".")
        if str(error)
        else type(error).__name__
    )
