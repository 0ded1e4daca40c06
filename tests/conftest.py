"""What several test files need."""

import contextlib
import importlib
import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path

import jax
import pytest

from tests.services.running import Running

MANY_MAPS = 20_000


def pytest_configure(config):
    """Import ArviZ before there are test processes: the first import of a day writes a file, and two at once fail."""
    if not hasattr(config, "workerinput"):
        with warnings.catch_warnings(action="ignore"):
            importlib.import_module("arviz")


@pytest.fixture(scope="session")
def running(tmp_path_factory):
    """Real servers, each started by the first test that asks for it."""
    servers = Running(tmp_path_factory.mktemp("servers"))
    yield servers
    servers.close()


@pytest.fixture
def small_disk(tmp_path):
    """A file system of two megabytes; skipped where none may be mounted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("this process may not mount a tmpfs")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


@pytest.fixture
def ballast(small_disk):
    """A file that has taken all the room that was left on the small disk, once it is asked to."""

    def fill():
        path = small_disk / "ballast"
        with path.open("wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(b"\0" * 4096)
        return path

    return fill


@pytest.fixture
def compilations():
    """Counts the programs that are made for XLA, whether it compiles them or finds them on disk."""
    names = []

    def note(event, duration, **_):
        if event == "/jax/core/compile/jaxpr_to_mlir_module_duration":
            names.append(event)

    jax.monitoring.register_event_duration_secs_listener(note)
    yield names
    jax.monitoring.unregister_event_duration_listener(note)


@pytest.fixture(autouse=True, scope="module")
def room_for_programs():
    """A process may map only so many stretches of memory (65,530 on Linux), and each compiled program takes some.

    A test process compiles thousands; without room for one more it crashes.
    """
    yield
    maps = Path("/proc/self/maps")
    if maps.exists() and len(maps.read_text().splitlines()) > MANY_MAPS:
        jax.clear_caches()


@pytest.fixture
def browser():
    """Headless Chromium; every test ends with a look at its console. Ask for it behind what it looks at."""
    if shutil.which("chromium") is None or shutil.which("chromedriver") is None:
        pytest.skip("there is no Chromium with chromedriver on this machine")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    with tempfile.TemporaryDirectory() as profile:
        for flag in (
            "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
            f"--disable-component-update --disable-sync --window-size=1300,1000 --user-data-dir={profile}"
        ).split():
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
        try:
            yield driver
            assert [entry for entry in driver.get_log("browser") if entry["level"] != "INFO"] == []
        finally:
            driver.quit()
