"""What `deploy/` has: tried without containers, as far as that goes."""

import json
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import yaml
from served import COLUMNS, MODELS, as_rows
from typer.main import get_command

import sgais
from sgais.cli import app
from sgais.serve.http.metrics import NUMBERS, OF_MODELS

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
QUICK = ("--paper", "--set", "num_particles=16", "--chunk-size", "50")
METRICS = {f"sgais_{line[0]}" for line in (*NUMBERS, *OF_MODELS)} | {"sgais_refused_total", "sgais_build_info"}


def text_of(name):
    return (DEPLOY / name).read_text()


@pytest.mark.parametrize("path", [DEPLOY / "grafana" / "board.json", ROOT / "docs" / "deployment.md"])
def test_boards_and_pages_name_metrics_that_there_are(path):
    named = set(re.findall(r"\bsgais_\w+", path.read_text()))
    assert len(named) >= 5
    assert named - METRICS == set()


def test_the_board_has_panels_of_its_own_place():
    panels = json.loads(text_of("grafana/board.json"))["panels"]
    taken = [
        (panel["gridPos"]["x"] + column, panel["gridPos"]["y"] + row)
        for panel in panels
        for column in range(panel["gridPos"]["w"])
        for row in range(panel["gridPos"]["h"])
    ]
    assert len(taken) == len(set(taken)), "none covers another"
    assert len({panel["id"] for panel in panels}) == len(panels)


def commands():
    compose = yaml.safe_load(text_of("compose.yaml"))
    yield "compose", shlex.split(compose["services"]["sgais"]["command"])
    yield "Dockerfile", json.loads(re.search(r"^CMD (\[\"serve.*\])$", text_of("Dockerfile"), re.MULTILINE)[1])
    yield "systemd", shlex.split(re.search(r"^ExecStart=\S+ (.*)$", text_of("sgais.service"), re.MULTILINE)[1])


@pytest.mark.parametrize(("where", "words"), list(commands()))
def test_the_service_is_started_with_options_that_it_has(where, words):
    serve = get_command(app).commands["serve"]
    assert words[0] == "serve"
    known = {option for parameter in serve.params for option in parameter.opts}
    assert {word for word in words if word.startswith("-")} <= known
    serve.make_parser(serve.make_context("serve", [], resilient_parsing=True)).parse_args(words[1:])


def test_what_compose_mounts_is_there():
    compose = yaml.safe_load(text_of("compose.yaml"))
    mounted = [volume.partition(":")[0] for one in compose["services"].values() for volume in one.get("volumes", ())]
    files = [name for name in mounted if name.startswith("./")]
    assert len(files) == 4
    assert [name for name in files if not (DEPLOY / name).exists()] == []
    scraped = yaml.safe_load(text_of("prometheus.yml"))["scrape_configs"][0]
    assert scraped["static_configs"][0]["targets"] == ["sgais:8321"]
    address = compose["services"]["nginx"]["networks"]["inside"]["ipv4_address"]
    assert f"--trusted-proxy {address}" in compose["services"]["sgais"]["command"]


def test_nginx_does_what_the_page_of_the_service_says():
    """That is tried in a real nginx by test_serve_proxy.py."""

    def location(text):
        found = re.search(r"^( *)location /evidence/ \{.*?^\1\}", text, flags=re.DOTALL | re.MULTILINE)[0]
        lines = textwrap.dedent(found).replace("sgais:8321", "127.0.0.1:8321").splitlines()
        return [line.partition("#")[0].strip() for line in lines]

    assert location(text_of("nginx.conf")) == location((ROOT / "docs" / "serve.md").read_text())


def test_nginx_can_read_its_configuration(tmp_path):
    if shutil.which("nginx") is None:
        pytest.skip("there is no nginx on this machine")
    path = tmp_path / "nginx.conf"
    path.write_text(f"pid {tmp_path}/pid;\n" + text_of("nginx.conf").replace("sgais:8321", "127.0.0.1:8321"))
    checked = subprocess.run(
        ["nginx", "-t", "-q", "-c", path, "-e", tmp_path / "errors"], capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stderr


def test_systemd_can_read_the_unit(tmp_path):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("there is no systemd on this machine")
    path = tmp_path / "sgais.service"
    path.write_text(text_of("sgais.service").replace("/opt/sgais/bin/sgais", "/bin/true"))
    checked = subprocess.run(["systemd-analyze", "verify", path], capture_output=True, text=True)
    assert [line for line in checked.stderr.splitlines() if "sgais" in line] == []


@pytest.mark.slow
def test_the_steps_of_the_dockerfile_make_a_command_that_runs(tmp_path):
    """As a shell would: what is copied is copied, what is run is run, with this Python."""
    build, *_ = text_of("Dockerfile").split("\n\n")
    target = tmp_path / "opt"
    for line in build.splitlines():
        word, _, rest = line.partition(" ")
        if word == "COPY":
            *names, _ = rest.split()
            for name in names:
                source = ROOT / name
                (shutil.copytree if source.is_dir() else shutil.copy)(source, tmp_path / name)
        if word == "RUN":
            step = rest.replace("/opt/sgais", str(target)).replace("python -m", f"{sys.executable} -m")
            subprocess.run(["bash", "-c", step], cwd=tmp_path, check=True)
    version = subprocess.run([target / "bin" / "sgais", "--version"], capture_output=True, text=True, check=True)
    assert sgais.__version__ in version.stdout
    help_page = subprocess.run([target / "bin" / "sgais", "serve", "--help"], capture_output=True, check=True)
    assert b"--token-file" in help_page.stdout


@pytest.mark.slow
def test_a_copy_of_a_stopped_folder_resumes_to_the_same_bits(start, tmp_path):
    data = sgais.simulate.linear_regression(300, dim=2).data
    service = start(*MODELS, *COLUMNS, *QUICK, folder=tmp_path / "original")
    service.post(as_rows(data, 0, 170))
    service.wait_for_rows(150)
    service.stop()
    shutil.copytree(tmp_path / "original", tmp_path / "restored")
    ends = []
    for folder in ("original", "restored"):
        again = start(folder=tmp_path / folder)
        assert again.post(as_rows(data, 170, 300)).json["first_row"] == 170
        state = again.wait_for_rows(300)
        ends.append({model["name"]: model["log_evidence"] for model in state["models"]})
    assert ends[0] == ends[1]
