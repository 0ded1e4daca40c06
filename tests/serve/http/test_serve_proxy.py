"""Behind a proxy: the example of docs/serve.md in a real nginx, where there is one, and what a proxy may not do."""

import http.client
import re
import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest
from served import COLUMNS, MODELS, as_rows
from starlette.requests import Request

from sgais.errors import ConfigError
from sgais.serve.http.outermost import root_path_of
from sgais.serve.http.proxies import Proxies

DOCUMENT = Path(__file__).parents[3] / "docs" / "serve.md"
TOKEN = "0123456789-abcdef"
QUICK = ("--paper", "--set", "num_particles=16", "--chunk-size", "50")
CONFIGURATION = """
daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/errors.log;
events {{ worker_connections 64; }}
http {{
  access_log off;
  client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
  uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
  server {{ listen 127.0.0.1:{port}; {locations} }}
}}
"""


@pytest.fixture
def nginx(tmp_path):
    """Starts nginx with some locations; gives its port."""
    if shutil.which("nginx") is None:
        pytest.skip("there is no nginx on this machine: the example of docs/serve.md was not run")
    running = []

    def run(locations):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        folder = tmp_path / f"nginx{len(running)}"
        folder.mkdir()
        (folder / "nginx.conf").write_text(CONFIGURATION.format(folder=folder, port=port, locations=locations))
        running.append(subprocess.Popen(["nginx", "-c", folder / "nginx.conf", "-e", folder / "errors.log"]))
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return port
            except OSError:
                time.sleep(0.05)
        raise AssertionError((folder / "errors.log").read_text())

    yield run
    for process in running:
        process.terminate()
        process.wait()


def ask(port, method, path, body=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def example(port):
    (found,) = re.findall(r"```nginx\n(.*?)```", DOCUMENT.read_text(), flags=re.DOTALL)
    assert "127.0.0.1:8321" in found
    return found.replace("127.0.0.1:8321", f"127.0.0.1:{port}")


@pytest.fixture
def with_token(start, tmp_path):
    (tmp_path / "token").write_text(TOKEN)

    def run(*arguments):
        return start(*MODELS, *COLUMNS, *QUICK, "--token-file", tmp_path / "token", *arguments)

    return run


def test_the_example_of_the_document(with_token, nginx, data):
    import json

    service = with_token("--trusted-proxy", "127.0.0.1", "--max-requests", 20)
    port = nginx(example(service.port))
    allowed = {"Authorization": f"Bearer {TOKEN}"}
    status, page = ask(port, "GET", "/evidence/")
    assert status == 200
    paths = re.findall(r'(?:src|href)="([^"#]+)"', page)
    assert len(paths) > 3
    for path in paths:
        assert not path.startswith("/"), path
        assert ask(port, "GET", f"/evidence/{path}")[0] == 200, path
    assert ask(port, "GET", "/evidence/state")[0] == 401
    body, kind = json.dumps(as_rows(data, 0, 50)), {"Content_Type": "application/json"}
    here = {"Origin": f"http://127.0.0.1:{port}", "Sec_Fetch_Site": "same-origin"}
    assert ask(port, "POST", "/evidence/observations", body, **kind, **allowed, **here)[0] == 201
    assert ask(port, "POST", "/evidence/observations", body, **kind, **allowed, Origin="http://evil.example")[0] == 403
    with socket.create_connection(("127.0.0.1", port), timeout=60) as reader:
        request = (
            f"GET /evidence/events?from=0 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
        )
        reader.sendall(request.encode())
        received = b""
        while b"event: news" not in received:  # as it comes, though the answer never ends
            received += reader.recv(65_536)


def test_addresses_are_believed_of_the_proxy_only(with_token):
    """With a limit of 2 at once: each address has its own share, if somebody who is trusted names it."""
    trusting = with_token("--trusted-proxy", "127.0.0.1", "--max-requests", 1)
    allowed = {"Authorization": f"Bearer {TOKEN}"}
    statuses = [trusting.get("/state", **allowed, **{"X-Forwarded-For": f"198.51.100.{i}"}).status for i in range(8)]
    assert statuses == [200] * 8
    statuses = [trusting.get("/state", **allowed, **{"X-Forwarded-For": f"{i}, 203.0.113.9"}).status for i in range(8)]
    assert 429 in statuses, "what stands before the last address may have been made up"


def test_without_a_token_nobody_comes_by_a_proxy(service, nginx):
    """It may have written the Host of this machine itself, for somebody who sits anywhere."""
    for name in ("X-Forwarded-For", "Forwarded", "Via", "X-Real-IP"):
        answer = service.get("/state", **{name: "for=203.0.113.9"})
        assert (answer.status, "token" in answer.json["error"]["message"]) == (421, True)
    port = nginx(f"location / {{ proxy_pass http://127.0.0.1:{service.port}; }}")
    assert ask(port, "GET", "/state")[0] == 421
    assert service.get("/state").status == 200


def test_a_prefix_that_is_handed_on(with_token, nginx):
    service = with_token("--root-path", "/some/where/")
    port = nginx(
        f"location /some/where {{ proxy_pass http://127.0.0.1:{service.port}; proxy_set_header Host $http_host; }}"
    )
    assert ask(port, "GET", "/some/where/page/main.js")[0] == 200
    assert ask(port, "GET", "/some/where/health")[0] == 200
    assert ask(port, "GET", "/some/where")[0] == 307, "the page's paths are relative to a folder"
    allowed = {"Authorization": f"Bearer {TOKEN}"}
    assert '"servers":[{"url":"/some/where"}]' in ask(port, "GET", "/some/where/openapi.json", **allowed)[1]
    assert service.get("/health").status == 200, "it works without the prefix as well"


def test_other_sites_use_up_nobodys_share(start):
    service = start(*MODELS, *COLUMNS, *QUICK, "--max-requests", 1)
    for _ in range(20):
        assert service.get("/state", Origin="http://evil.example").status == 403
    assert service.get("/state").status == 200


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", ["192.0.2.7"], "192.0.2.7"),
        ("192.0.2.9", ["192.0.2.7"], "192.0.2.9"),
        ("10.0.0.1", ["192.0.2.7, 10.0.0.5"], "192.0.2.7"),
        ("10.0.0.1", ["192.0.2.6", "192.0.2.7"], "192.0.2.7"),
        ("10.0.0.1", ["nonsense"], "10.0.0.1"),
        ("10.0.0.1", ["192.0.2.7, nonsense"], "10.0.0.1"),
    ],
)
def test_whose_request_it_is(peer, forwarded, client):
    headers = [(b"x-forwarded-for", text.encode()) for text in forwarded]
    request = Request({"type": "http", "client": (peer, 1), "headers": headers})
    assert Proxies(["10.0.0.0/8"]).client_of(request) == client


def test_what_is_no_address_and_no_path():
    with pytest.raises(ConfigError, match="--trusted-proxy"):
        Proxies(["localhost"])
    for text in ("evidence", "/a b", "//", "/a//b", "/é"):
        if text.rstrip("/"):
            with pytest.raises(ConfigError, match="--root-path"):
                root_path_of(text)
    assert root_path_of("/a/b/") == "/a/b"
    assert root_path_of("/") == ""
