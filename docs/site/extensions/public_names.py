"""`sgais.Comparison` in the text leads to its page, and so does a type that is known inside by another name."""

import re
import sys
import types
from collections.abc import Iterator

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform

import sgais

NAME = re.compile(r"^(sgais(?:\.\w+)+)(?:\(.*\))?$", flags=re.DOTALL)
# Modules whose members are public, besides what `sgais` itself names.
MODULES = (
    "annealing",
    "cluster",
    "decisions",
    "history",
    "models",
    "notebook",
    "plots",
    "simulate",
    "streams",
    "testing",
)


def public_names() -> Iterator[tuple[str, object]]:
    """Every public name that is no module, each object once, by the shortest of its names."""
    seen = set()
    for module, where in (("sgais", sgais), *((f"sgais.{name}", getattr(sgais, name)) for name in MODULES)):
        for name in where.__all__:
            value = getattr(where, name)
            if not isinstance(value, types.ModuleType) and id(value) not in seen:
                seen.add(id(value))
                yield f"{module}.{name}", value


class LinkNames(SphinxTransform):
    """Turns a public name that stands as code into a link, where it has a page."""

    default_priority = 700

    def apply(self, **_: object) -> None:
        """Called by Sphinx for each page."""
        for literal in list(self.document.findall(nodes.literal)):
            name = NAME.match(literal.astext())
            if name is None or _is_within(literal, (nodes.reference, pending_xref, nodes.title)):
                continue
            link = pending_xref("", refdomain="py", reftype="obj", reftarget=name[1], refdoc=self.env.docname)
            link["is_by_text"] = True
            literal.replace_self(link)
            link += literal


def _is_within(node: nodes.Node, kinds: tuple[type, ...]) -> bool:
    while node is not None:
        if isinstance(node, kinds):
            return True
        node = node.parent
    return False


def resolve(app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.Node) -> nodes.Node | None:
    """The page of what Sphinx does not find: the same object by its public name, or a method's class."""
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"]
    domain = env.get_domain("py")
    for name in (_aliases().get(target), target.rpartition(".")[0] if node.get("is_by_text") else None):
        if name in getattr(domain, "objects", {}):
            return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", name, node, content)
    return content if node.get("is_by_text") or _is_inside(target) else None


def _is_inside(target: str) -> bool:
    """Whether it is a type of the inside, which signatures name and which has no page; an unknown name is an error."""
    module, _, name = target.rpartition(".")
    return module.startswith("sgais.") and hasattr(sys.modules.get(module), name)


def _aliases() -> dict[str, str]:
    """Public names by the places where the objects are defined, and by their bare names."""
    known: dict[str, str] = {}
    for name, value in public_names():
        known[f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}"] = name
        known.setdefault(name.rpartition(".")[2], name)
    return known


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_transform(LinkNames)
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
