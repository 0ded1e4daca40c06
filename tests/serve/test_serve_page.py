"""The page in a real browser, with rows posted from another process."""

import json
import time

import numpy as np
import pytest
from served import COLUMNS, MODELS, Served

pytestmark = pytest.mark.browser
QUICK = ("--set", "num_particles=32", "--set", "num_islands=4", "--chunk-size", "50")
CHARTS = ["evidence", "probabilities", "bayes-factors", "annealing", "error-budget", "throughput", "memory"]


def rows(count, weights, seed):
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(count, 2))
    y = x @ weights + generator.normal(size=count)
    return [{"a": a, "b": b, "target": target} for (a, b), target in zip(x.tolist(), y.tolist(), strict=True)]


def until(browser, script, seconds=300, wanted=True):
    """Wait for a JavaScript expression to be what is wanted."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = browser.execute_script(f"return {script}")
        if found == wanted:
            return
        time.sleep(0.1)
    raise AssertionError(f"{script} is {found!r}\n{browser.execute_script('return document.body.innerText')}")


def text(browser, selector):
    return browser.execute_script("return document.querySelector(arguments[0]).innerText", selector)


def shown_charts(browser):
    return browser.execute_script(
        "return [...document.querySelectorAll('figure')].filter(f => !f.hidden && f.querySelector('canvas'))"
        ".map(f => f.id)"
    )


def inked(browser, chart):
    """The number of pixels of a chart that have been drawn on."""
    return browser.execute_script(
        "const c = document.querySelector(`#${arguments[0]} canvas`);"
        "const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
        "let n = 0; for (let i = 3; i < d.length; i += 4) n += d[i] > 0; return n",
        chart,
    )


def emulate(browser, **features):
    listed = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": listed})


def test_curves_probabilities_and_an_alarm_appear(start, browser):
    service = start(*MODELS, *COLUMNS, *QUICK)
    browser.get(service.url)
    until(browser, "document.getElementById('status').innerText", wanted="running")
    assert "Waiting for the first chunk" in text(browser, "#verdict")
    for number in range(30):
        assert service.post(rows(50, [1.0, 0.3], number)).status == 201
    until(browser, "document.body.dataset.rows", wanted="1500")
    assert shown_charts(browser) == CHARTS
    assert "both leads with probability" in text(browser, "#verdict")
    assert text(browser, "#models tbody tr:first-child th").strip() == "both"
    ink = inked(browser, "probabilities")
    assert ink > 1000

    refusal = service.post([*rows(3, [1.0, 0.3], 1), {"a": 1, "b": "bad", "target": 0}])
    assert (refusal.status, refusal.json["error"]["row"], refusal.json["error"]["column"]) == (422, 3, "b")
    browser.refresh()  # in the middle of the stream
    until(browser, "document.body.dataset.rows", wanted="1500")
    assert "bad" not in text(browser, "body")
    assert browser.execute_script("return document.querySelectorAll('#alarms li').length") == 0

    for number in range(12):
        service.post(rows(50, [-2.0, 3.0], 100 + number))
    until(browser, "document.querySelectorAll('#alarms li').length > 0")
    assert "The data changed at about row" in text(browser, "#alarms")
    assert "Alarm. The data changed" in browser.execute_script("return document.getElementById('news').textContent")
    until(browser, "document.body.dataset.rows", wanted="2100")
    shown = browser.execute_script("return performance.getEntriesByType('resource').map(e => new URL(e.name).host)")
    assert set(shown) == {f"127.0.0.1:{service.port}"}, "the page fetches from nowhere else"


def test_a_change_is_told_and_marked_once(browser, service):
    """However many models notice it, and at whatever row."""
    alarms = [{"model": name, "row": 1200 + 100 * late, "location": 1000} for late, name in enumerate("abc")]
    browser.get(service.url)
    changes, lines = browser.execute_async_script(
        "const [alarms, done] = arguments;"
        "import('/page/words.js').then((words) => done([words.changes(alarms), words.alarmLines(alarms)]))",
        alarms,
    )
    assert changes == [{"location": 1000, "row": 1200, "models": ["a", "b", "c"]}]
    assert lines == ["The data changed at about row 1,000, noticed at row 1,200 by 3 models."]


def test_a_service_that_comes_again_is_followed(start, browser):
    service = start(*MODELS, *COLUMNS, *QUICK)
    service.post(rows(100, [1.0, 0.3], 0))
    browser.get(service.url)
    until(browser, "document.body.dataset.rows", wanted="100")
    assert text(browser, "#no-alarms").startswith("The data have not changed")
    service.kill()
    until(browser, "document.getElementById('status').innerText", wanted="connection lost")
    assert text(browser, "#no-alarms").startswith("Not connected"), "it cannot know whether the data have changed"
    again = start(port=service.port)
    again.post(rows(100, [1.0, 0.3], 1))
    until(browser, "document.body.dataset.rows", wanted="200")
    assert text(browser, "#status") == "running"
    assert text(browser, "#no-alarms").startswith("The data have not changed")
    browser.get_log("browser")  # the browser notes connections that were refused: there was nobody


def test_it_is_read_by_keys_and_by_ear(browser, service):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    service.post(rows(500, [1.0, 0.3], 0))
    browser.get(service.url)
    until(browser, "Number(document.body.dataset.rows) >= 500")
    plot = browser.find_element(By.CSS_SELECTOR, "#probabilities .plot")
    assert plot.get_attribute("role") == "img"
    assert "Row 500: both" in plot.get_attribute("aria-label")
    plot.send_keys(Keys.HOME)
    assert text(browser, "#probabilities .key").startswith("row 50")
    plot.send_keys(Keys.ARROW_RIGHT)
    assert browser.execute_script("return document.getElementById('news').textContent").startswith("Row 100: both")
    browser.find_element(By.CSS_SELECTOR, "#probabilities summary").send_keys(Keys.ENTER)
    until(browser, "document.querySelectorAll('#probabilities tbody tr').length", wanted=10)
    # Everything that can be used has a name, and tab comes by all of it.
    names = browser.execute_script(
        "return [...document.querySelectorAll('select, input, button, [tabindex]')].filter(e => e.offsetParent)"
        ".map(e => e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') || e.labels?.[0]?.innerText"
        "  || e.innerText)"
    )
    assert all(names), names
    assert browser.execute_script("return document.querySelectorAll('th:not([scope])').length") == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1300])
def test_it_fits_and_can_be_read(browser, service, scheme, width):
    service.post(rows(500, [1.0, 0.3], 0))
    metrics = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    emulate(browser, prefers_color_scheme=scheme)
    browser.get(service.url)
    until(browser, "Number(document.body.dataset.rows) >= 500")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    widths = browser.execute_script("return [...document.querySelectorAll('.plot canvas')].map(c => c.clientWidth)")
    assert all(150 < each < width for each in widths), widths
    colors = browser.execute_script(
        "return ['body', '.hint', '#models td', '#models thead th', '.key li'].map(s => {"
        "  const e = document.querySelector(s); return getComputedStyle(e).color })"
    )
    paper = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert min(contrast(color, paper) for color in colors) >= 4.5


def contrast(one, other):
    """As WCAG has it."""

    def luminance(color):
        parts = [float(part) / 255 for part in color[color.index("(") + 1 : -1].split(",")[:3]]
        linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))

    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def test_a_token_is_asked_for(start, tmp_path, browser):
    (tmp_path / "token").write_text("a-secret-of-some-length")
    service = start(*MODELS, *COLUMNS, *QUICK, "--token-file", tmp_path / "token")
    browser.get(service.url)
    until(browser, "!document.getElementById('ask').hidden")
    browser.execute_script("document.getElementById('token').value = 'a-secret-of-some-length'")
    browser.execute_script("document.querySelector('#token-form button').click()")
    until(browser, "document.getElementById('status').innerText", wanted="running")
    browser.execute_script("sessionStorage.clear()")
    browser.get("about:blank")
    browser.get(service.url + "/#token=a-secret-of-some-length")
    until(browser, "document.getElementById('status').innerText", wanted="running")
    assert "secret" not in browser.current_url


def test_a_saved_run_is_replayed(browser, saved_run, tmp_path):
    service = Served(tmp_path / "replay", "--replay", saved_run)
    try:
        browser.get(service.url)
        until(browser, "document.getElementById('replay').hidden", wanted=False)
        until(browser, "document.body.dataset.rows", wanted="2000")
        assert browser.execute_script("return document.querySelectorAll('#alarms li').length") > 0
        whole = json.loads(
            browser.execute_script("return JSON.stringify([...document.querySelectorAll('td')].map(e => e.innerText))")
        )
        move = "const s = document.getElementById('place'); s.value = arguments[0]; s.dispatchEvent(new Event('input'))"
        browser.execute_script(move, 3)
        until(browser, "document.body.dataset.rows", wanted="400")
        assert text(browser, "#place-words") == "row 400 of 2,000"
        assert browser.execute_script("return document.querySelectorAll('#alarms li').length") == 0
        earlier = json.loads(
            browser.execute_script("return JSON.stringify([...document.querySelectorAll('td')].map(e => e.innerText))")
        )
        assert earlier != whole
        browser.execute_script("document.getElementById('play').click()")
        until(browser, "document.body.dataset.rows", wanted="2000")
        assert [name for name in CHARTS if name not in ("throughput", "memory")] == shown_charts(browser)
    finally:
        service.kill()


def test_a_local_run_is_shown(live_run, browser):
    browser.get(live_run.url)
    until(browser, "document.body.dataset.rows", wanted="2000")
    until(browser, "document.getElementById('status').innerText", wanted="ended")
    assert shown_charts(browser) == CHARTS
