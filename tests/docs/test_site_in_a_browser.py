"""The site in a real browser: wide and narrow, light and dark; search finds what one looks for."""

import functools
import http.server
import threading
import time

import pytest

pytestmark = pytest.mark.browser
PAGES = {
    "home": "docs/index.html",
    "tutorial": "docs/tutorials/first-evidence.html",
    "reference": "docs/reference/api/sgais.Comparison.html",
    "gallery": "docs/gallery.html",
    "formulas": "docs/accuracy.html",
}
SCREENS = {"desktop": 1280, "phone": 390}
SEARCHES = {"Bayes factor": "bayes", "resume": "resume", "prior": "prior"}


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address(site):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


def see(browser, width, scheme):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def brightness(browser):
    colour = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    return sum(int(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3]) / 3


@pytest.mark.parametrize("screen", SCREENS)
def test_pages_fit_and_say_no_error(address, browser, screen):
    """The fixture looks at the console."""
    for page in PAGES.values():
        see(browser, SCREENS[screen], "light")
        browser.get(address + page)
        assert brightness(browser) > 200, page
        wide = browser.execute_script("return document.documentElement.scrollWidth")
        assert wide <= SCREENS[screen], f"{page} sticks out to the side"
        broken = "return [...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)"
        assert browser.execute_script(broken) == [], page
        see(browser, SCREENS[screen], "dark")
        browser.refresh()
        assert brightness(browser) < 60, page


def test_search_finds_what_one_looks_for(address, browser):
    see(browser, 1280, "light")
    results = "return [...document.querySelectorAll('#search-results li a')].map(a => a.innerText).join('\\n')"
    for words, wanted in SEARCHES.items():
        browser.get(f"{address}search.html?q={words.replace(' ', '+')}")
        end = time.monotonic() + 60
        while not (found := browser.execute_script(results)) and time.monotonic() < end:
            time.sleep(0.2)
        assert wanted in found.lower(), words
