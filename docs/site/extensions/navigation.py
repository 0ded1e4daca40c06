"""Which pages stand below which: said here, not in the pages, which are to be read on a forge as well."""

from sphinx.application import Sphinx

BELOW = {
    "docs/index": [
        "docs/get-started",
        "docs/tutorials/README",
        "docs/how-to/README",
        "docs/concepts",
        "docs/reference/README",
        "docs/gallery",
        "docs/benchmarks",
        "CHANGELOG",
    ],
    "docs/get-started": [],
    "docs/tutorials/README": [
        "docs/tutorials/first-evidence",
        "docs/tutorials/your-own-model",
        "docs/tutorials/choosing-models",
        "docs/tutorials/watching-for-shifts",
        "docs/tutorials/trusting-the-number",
    ],
    "docs/how-to/README": [
        "docs/how-to/your-csv",
        "docs/how-to/your-model",
        "docs/how-to/your-broker",
        "docs/how-to/behind-a-proxy",
        "docs/how-to/resume",
        "docs/deployment",
        "docs/cluster",
        "docs/how-to/report-an-evidence",
        "docs/streams",
        "docs/formulas",
        "docs/models",
        "docs/comparison",
        "docs/decisions",
        "docs/change-points",
        "docs/shifts",
        "docs/plots",
        "docs/command-line",
        "docs/serve",
    ],
    "docs/concepts": [
        "docs/method",
        "docs/accuracy",
        "docs/priors",
        "docs/methods",
        "docs/paper-map",
        "docs/threat-model",
        "docs/design",
        "docs/glossary",
        "CONTRIBUTING",
        "SECURITY",
        "src/sgais/serve/page/vendor/README",
    ],
    "docs/benchmarks": ["docs/performance", "docs/paper/README", "benchmarks/results/peers/README"],
}


def add_below(app: Sphinx, page: str, source: list[str]) -> None:
    """Give a page the table of contents that Sphinx wants, unseen."""
    below = [*BELOW.get(page, ())]
    if page == "docs/benchmarks":
        below += sorted(name for name in app.env.found_docs if _is_result(name) and name not in below)
    if below:
        lines = "\n".join("/" + name for name in below)
        source[0] += f"\n\n```{{toctree}}\n:hidden:\n\n{lines}\n```\n"


def _is_result(page: str) -> bool:
    return page.startswith("benchmarks/results/")


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", add_below)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
