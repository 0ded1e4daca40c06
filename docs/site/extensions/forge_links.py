"""Links to a folder of the repository, which is no page of the site: the words stay, the link goes."""

from pathlib import Path

from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform


class KeepWords(SphinxTransform):
    """Takes away links of Markdown to folders that are there."""

    default_priority = 710

    def apply(self, **_: object) -> None:
        """Called by Sphinx for each page."""
        page = Path(self.env.doc2path(self.env.docname))
        for link in list(self.document.findall(pending_xref)):
            if link["reftype"] == "myst" and (page.parent / link["reftarget"]).is_dir():
                link.replace_self(link.children)


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_transform(KeepWords)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
