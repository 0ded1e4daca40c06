"""What an expression in a formula may be: arithmetic on columns, and functions of a short list. Nothing else is run.

Formulaic evaluates expressions as Python. Every one of them is taken apart here beforehand, so that a formula from a
command line, a settings file or a stranger is no way to run code.
"""

import ast
import difflib
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from sgais.errors import ConfigError

ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
SIGNS = (ast.UAdd, ast.USub)
DATE_PARTS = ("year", "month", "day", "weekday", "hour", "days")
FUNCTIONS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("log", "log1p", "log2", "log10", "exp", "sqrt", "abs", "I", "C", "offset", "center", "scale"), ()),
    **dict.fromkeys(DATE_PARTS, ()),
    "poly": ("degree", "raw"),
    "bs": ("df", "degree", "knots"),
    "cr": ("df", "knots"),
}
"""The functions of a formula, and the options that they take by name."""
QUOTED = re.compile(r"`([^`]+)`")


class Expression(NamedTuple):
    """One expression of a formula.

    Attributes:
        text: As it stands there.
        columns: The columns that it reads.
        calls: Each function with the column that it is applied to, where it is a plain column.
    """

    text: str
    columns: tuple[str, ...]
    calls: tuple[tuple[str, str], ...]


def checked(text: str) -> Expression:
    """Take an expression apart; refuse it if any part of it is not on the list."""
    quoted: dict[str, str] = {}

    def stand_in(match: re.Match[str]) -> str:
        name = f"quoted_column_{len(quoted)}"
        quoted[name] = match[1]
        return name

    try:
        tree = ast.parse(QUOTED.sub(stand_in, text), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ConfigError(f"`formula` must have terms that can be read, got {text!r}.") from error
    _check(tree, text)
    columns = tuple(dict.fromkeys(quoted.get(name, name) for name in _names(tree)))
    calls = tuple((name, quoted.get(column, column)) for name, column in _calls(tree))
    return Expression(text, columns, calls)


def _names(tree: ast.AST) -> Iterator[str]:
    """The names that are no functions."""
    if isinstance(tree, ast.Name):
        yield tree.id
    for part in tree.args if isinstance(tree, ast.Call) else ast.iter_child_nodes(tree):
        yield from _names(part)


def _calls(tree: ast.AST) -> Iterator[tuple[str, str]]:
    for part in ast.walk(tree):
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.args:
            first = part.args[0]
            yield part.func.id, first.id if isinstance(first, ast.Name) else ""


def _check(tree: ast.expr, text: str) -> None:
    match tree:
        case ast.Name():
            return
        case ast.BinOp(left, operation, right) if isinstance(operation, ARITHMETIC) and any(_names(tree)):
            for part in (left, right):
                _check(part, text)
        case ast.UnaryOp(operation, operand) if isinstance(operation, SIGNS):
            _check(operand, text)
        case ast.Call(func=ast.Name(name), args=arguments, keywords=options):
            _check_call(name, options, text)
            for argument in arguments:
                _check(argument, text)
        case _ if _is_plain(tree):
            return
        case _:
            raise ConfigError(
                "`formula` must be made of columns, numbers, + - * / ** and functions that it knows, got "
                f"{ast.unparse(tree)!r} in {text!r}. Prepare such a column beforehand."
            )


def _check_call(name: str, options: list[ast.keyword], text: str) -> None:
    if name not in FUNCTIONS:
        near = difflib.get_close_matches(name, FUNCTIONS, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"There are {', '.join(FUNCTIONS)}."
        raise ConfigError(f"`formula` must use functions that it knows, got {name!r} in {text!r}. {hint}")
    for option in options:
        if option.arg not in FUNCTIONS[name] or not _is_plain(option.value):
            known = ", ".join(FUNCTIONS[name]) or "none"
            raise ConfigError(
                f"`formula` must give {name} options that it has ({known}) as plain numbers, got "
                f"{ast.unparse(option)!r} in {text!r}."
            )


def _is_plain(tree: ast.expr) -> bool:
    """A number, a truth value, or a list of them."""
    if isinstance(tree, ast.List | ast.Tuple):
        return all(_is_plain(part) for part in tree.elts)
    return isinstance(tree, ast.Constant) and isinstance(tree.value, int | float)
