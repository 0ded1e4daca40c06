"""Formulas as MathML, written when the site is built: browsers draw it, without scripts and without a network."""

import html

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator


def _inline(translator: HTML5Translator, node: nodes.math) -> None:
    translator.body.append(_formula(node.astext(), "inline"))
    raise nodes.SkipNode


def _block(translator: HTML5Translator, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="math-block">{_formula(node.astext(), "block")}</div>\n')
    raise nodes.SkipNode


def _formula(latex: str, display: str) -> str:
    drawn = convert(latex, display=display)
    return drawn.replace("<math ", f'<math alttext="{html.escape(latex)}" ', 1)


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
