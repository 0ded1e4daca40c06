"""The site: the Markdown of the repository, and one page for each public name. Built by `make docs`.

The source folder is the repository's, so that links lead where they lead on a forge, also out of `docs/`.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import sgais

sys.modules.setdefault("sgais.annealing", sgais.annealing)  # its public name; Sphinx wants modules by their names

project, author = "sgais", "The sgais developers"
copyright = author
version = release = sgais.__version__
html_title = "sgais"

root_doc = "docs/index"
include_patterns = [
    "docs/**",
    "benchmarks/results/**",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "src/sgais/serve/page/vendor/README.md",
]
exclude_patterns = ["docs/site/**", ".*", "src/sgais/[!s]*", "tests", "**/node_modules"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "myst_parser",
    "sphinx_copybutton",
    "extensions.forge_links",
    "extensions.navigation",
    "extensions.notebooks",
    "extensions.mathml",
    "extensions.public_names",
]
templates_path = [str(HERE / "templates")]  # autosummary looks beside the sources, Sphinx beside this file

# Markdown as forges read it.
myst_enable_extensions = ["dollarmath", "html_image"]
myst_fence_as_directive = ["math"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # a changelog begins its sections where it likes

# Docstrings: Google's form, code in single backticks.
default_role = "code"
autosummary_generate = True
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
napoleon_use_ivar = True
napoleon_use_rtype = False
python_maximum_signature_line_length = 80
toc_object_entries_show_parents = "hide"
python_use_unqualified_type_names = True
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(?!sgais\b).*")]  # other libraries: their pages are elsewhere
html_math_renderer = "mathml"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_favicon = "static/favicon.svg"
html_extra_path = ["root"]
html_copy_source = html_show_sourcelink = False
html_show_sphinx = False
# Pages with nothing below them have no need of a list of it.
html_sidebars = {page: [] for page in ("docs/index", "docs/get-started", "docs/gallery", "CHANGELOG")}
html_theme_options = {
    "logo": {"text": "sgais"},
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_context = {"default_mode": "auto"}
