"""The house stays one in which everything is found: small rooms, small files, short lists of arguments."""

import ast
import re
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "sgais"
MOST_FILES = 15
MOST_LINES = 350  # but for examples in docstrings, which the reference shows
EXAMPLE = re.compile(r"\n\n( +)Example:\n(?:\1 +.*\n)+")
MOST_PARAMETERS = 7
# Calls of users, whose further parameters are options with defaults, named when they are given.
CALLS_OF_USERS = {
    "changepoints/change_points.py __init__",
    "comparison/comparison.py __init__",
    "estimate.py estimate",
    "streams/stream.py stream",
    "streams/stream.py __init__",
    "models/formula/glm.py glm",
}


def test_no_room_is_crowded():
    crowded = {}
    for folder in [SOURCE, *(path for path in SOURCE.rglob("*") if path.is_dir())]:
        count = sum(path.suffix == ".py" and path.name != "__init__.py" for path in folder.iterdir())
        if count > MOST_FILES:
            crowded[str(folder.relative_to(SOURCE))] = count
    assert crowded == {}


def test_no_file_is_long():
    lengths = {path.name: len(EXAMPLE.sub("\n", path.read_text()).splitlines()) for path in SOURCE.rglob("*.py")}
    assert {name: length for name, length in lengths.items() if length > MOST_LINES} == {}


def functions():
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{path.relative_to(SOURCE)} {node.name}", node


def test_no_function_takes_many_parameters():
    """But for compiled ones, to which everything that changes has to be handed."""
    many = {
        name
        for name, node in functions()
        if len(
            [
                each
                for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
                if each.arg not in ("self", "cls")
            ]
        )
        > MOST_PARAMETERS
        and not any("jax.jit" in ast.unparse(decorator) for decorator in node.decorator_list)
    }
    assert many == CALLS_OF_USERS
