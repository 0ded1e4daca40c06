"""The site is built without a warning, is whole, and needs nothing from elsewhere."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlparse

from test_public_names import NAMES

ASSET_ATTRIBUTES = {"img": "src", "script": "src", "link": "href", "source": "src", "iframe": "src"}


class Found(HTMLParser):
    """What a page refers to."""

    def __init__(self, text):
        super().__init__()
        self.assets, self.links, self.places = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.places.add(values.get("id"))
        if (wanted := ASSET_ATTRIBUTES.get(tag)) and values.get(wanted):
            self.assets.append(values[wanted])
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])


def pages(site):
    """All but a template of the theme that it leaves among its files."""
    paths = [path for path in site.rglob("*.html") if path.parent.name != "_static"]
    return {path: Found(path.read_text(encoding="utf-8")) for path in paths}


def test_every_link_leads_somewhere_and_no_asset_comes_from_outside(site):
    found = pages(site)
    assert len(found) > 120
    for page, content in found.items():
        assert not [asset for asset in content.assets if urlparse(asset).netloc], page
        for link in (*content.links, *content.assets):
            address = urlparse(link)
            if address.scheme or "/_modules/" in str(page):
                continue
            target = (page.parent / unquote(address.path)).resolve() if address.path else page
            assert target.exists(), (page, link)
            if address.fragment and target in found:
                assert unquote(address.fragment) in found[target].places, (page, link)


def test_style_sheets_and_scripts_load_nothing_from_outside(site):
    loads = re.compile(r"""url\(\s*["']?https?:|@import\s+["']?https?:|importScripts\(|fetch\(\s*["']https?:""")
    files = [path for suffix in ("*.css", "*.js") for path in site.rglob(suffix)]
    assert len(files) > 5
    assert [path.name for path in files if loads.search(path.read_text(encoding="utf-8"))] == []


def test_every_public_name_has_a_page(site):
    for name in NAMES:
        page = site / "docs" / "reference" / "api" / f"{name}.html"
        assert f'id="{name}"' in page.read_text(encoding="utf-8"), name
        assert "&gt;&gt;&gt;" in page.read_text(encoding="utf-8"), name


def test_formulas_are_drawn_without_scripts(site):
    text = (site / "docs" / "accuracy.html").read_text(encoding="utf-8")
    assert text.count("<math ") >= 6
    assert not [asset for asset in Found(text).assets if "mathjax" in asset.lower()]
    assert "\\frac" not in re.sub(r'alttext="[^"]*"', "", text)


def test_no_path_of_the_machine_that_built_it(site):
    root = str(Path(__file__).parents[2])
    assert [path for path in site.rglob("*.html") if root in path.read_text(encoding="utf-8")] == []
