"""What somebody who means harm, or makes a mistake, is answered."""

import json
import socket

import pyarrow as pa
import pytest
from served import COLUMNS, JSON, MODELS
from test_serve_answers import ARROW, GOOD, NDJSON, arrow

from sgais.errors import ConfigError
from sgais.serve.http.security import Guard
from sgais.serve.limits import RateLimit
from sgais.serve.refusal import RefusalError

TOKEN = "a-secret-of-some-length"


def refused(answer, status):
    assert answer.status == status, answer
    assert answer.headers["content-type"] == JSON
    assert answer.json["error"]["status"] == status
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert b"Traceback" not in answer.body
    assert b"site-packages" not in answer.body


@pytest.mark.parametrize(
    "path",
    [
        "/../pyproject.toml",
        "/page/../serve.py",
        "/page/..%2f..%2f..%2fetc/passwd",
        "/page/vendor/%2e%2e/main.js",
        "//etc/passwd",
        "/page/",
        "/page/refresh.py",
        "/page/vendor/refresh.py",
    ],
)
def test_no_path_is_opened(service, path):
    refused(service.get(path), 404)


@pytest.mark.parametrize(
    "kind",
    [
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json; charset=latin-1",
        "application/jsonp",
    ],
)
def test_other_content_types(service, kind):
    refused(service.ask("POST", "/observations", json.dumps(GOOD), {"Content-Type": kind} if kind else {}), 415)


def test_compressed_bodies(service):
    headers = {"Content-Type": JSON, "Content-Encoding": "gzip"}
    refused(service.ask("POST", "/observations", b"x", headers), 415)
    table = pa.table({"a": [0.0] * 1000, "b": [0.0] * 1000, "target": [0.0] * 1000})
    answer = service.ask("POST", "/observations", arrow(table, compression="lz4"), {"Content-Type": ARROW})
    refused(answer, 400)
    assert "compressed" in answer.json["error"]["message"]


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (JSON, b"{"),
        (JSON, b"\xff\xfe"),
        (JSON, b"[" * 100_000),
        (JSON, b"[" + b"9" * 10_000 + b"]"),
        (JSON, b'[{"a": NaN, "b": 1, "target": 1}]'),
        (NDJSON, b"\xff"),
        (ARROW, b"no arrow"),
        (ARROW, b"\xff\xff\xff\xff\x10\x00\x00\x00" + b"\x00" * 64),
        (ARROW, arrow(pa.table({"a": [1.0], "b": [1.0], "target": [1.0]}))[:-30]),
        (ARROW, b""),
    ],
)
def test_bodies_that_cannot_be_read(service, kind, body):
    refused(service.ask("POST", "/observations", body, {"Content-Type": kind}), 400)


def test_too_much_at_once(service):
    refused(service.ask("POST", "/observations", b" " * (8 * 1024 * 1024 + 1), {"Content-Type": JSON}), 413)
    refused(service.post(GOOD * 10_001), 413)
    refused(service.post(GOOD * 5_000, path="/predict"), 413) if service.get("/state").json["num_rows"] else None


def test_a_body_without_end(service):
    """It is cut off when it has become too large, and nobody else waits for it."""
    with socket.create_connection(("127.0.0.1", service.port), timeout=60) as connection:
        connection.sendall(
            b"POST /observations HTTP/1.1\r\nHost: localhost\r\n"
            b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        block = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
        sent = 0
        try:
            while sent < 64 * 1024 * 1024:
                connection.sendall(block)
                sent += len(block)
        except OSError:
            pass
        assert sent < 32 * 1024 * 1024
    assert service.get("/health").status == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "evil.example:80@localhost"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
    ],
)
def test_pages_of_other_sites(service, headers, status):
    refused(service.ask("POST", "/observations", json.dumps(GOOD), {"Content-Type": JSON, **headers}), status)
    refused(service.ask("GET", "/state", headers=headers), status)


@pytest.mark.parametrize("key", ["", "two words", "é", "x" * 201, "tab\tbed"])
def test_keys_that_are_none(service, key):
    headers = {"Content-Type": JSON, "Idempotency-Key": key.encode("latin-1")}
    refused(service.ask("POST", "/observations", json.dumps(GOOD), headers), 400)


def test_headers_cannot_be_injected(service):
    """A line break in a header ends the request; nothing of it comes back in an answer's headers."""
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as connection:
        connection.sendall(
            b"GET /state?points=%0d%0aSet-Cookie:%20x=1 HTTP/1.1\r\nHost: localhost\r\n"
            b"Idempotency-Key: a\x00b\r\nConnection: close\r\n\r\n"
        )
        answer = b""
        while part := connection.recv(65536):
            answer += part
    assert answer.startswith(b"HTTP/1.1 400")
    answer = service.get("/records?points=%0d%0aSet-Cookie:%20x=1")
    refused(answer, 400)
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "query", ["points=0", "points=2001", "points=1e3", "from=-1", "to=x", "from=1&from=2", "points=" + "9" * 50]
)
def test_queries_out_of_range(service, query):
    refused(service.get(f"/records?{query}"), 400)


def test_ways_that_there_are_not(service):
    refused(service.ask("DELETE", "/observations"), 405)
    refused(service.ask("GET", "/observations"), 405)
    refused(service.ask("POST", "/state"), 405)
    refused(service.get("/favicon.ico"), 404)


def test_a_token(start, tmp_path):
    (tmp_path / "token").write_text(TOKEN + "\n")
    service = start(*MODELS, *COLUMNS, "--paper", "--token-file", tmp_path / "token", "--host", "0.0.0.0")
    for path in ("/state", "/records", "/events", "/metrics", "/openapi.json"):
        refused(service.get(path), 401)
        refused(service.get(path, Authorization="Bearer wrong"), 401)
        refused(service.get(path, Authorization=TOKEN), 401)
        refused(service.get(path, Authorization="Bearer é".encode()), 401)
    refused(service.post(GOOD), 401)
    refused(service.post(GOOD, path="/predict"), 401)
    allowed = {"Authorization": f"Bearer {TOKEN}"}
    assert service.post(GOOD, **allowed).status == 201
    assert service.get("/state", **allowed).json["rows_accepted"] == 1
    assert service.get("/state", **allowed, Host="any.name").status == 200
    for path in ("/", "/health", "/page/main.js"):
        assert service.get(path).status == 200
    assert TOKEN not in service.said


def test_no_token_for_other_machines():
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.org"):
        with pytest.raises(ConfigError, match="--token-file"):
            Guard(host, None)
    with pytest.raises(ConfigError, match="at least 16"):
        Guard("0.0.0.0", "short")
    Guard("127.0.0.2", None)
    Guard("::1", None)


def test_the_rate_of_one_address_is_limited(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("sgais.serve.limits.time.monotonic", lambda: now[0])
    limit = RateLimit(10)
    for _ in range(20):
        limit.count("one")
    with pytest.raises(RefusalError) as refusal:
        limit.count("one")
    assert (refusal.value.status, refusal.value.retry_after) == (429, 1)
    limit.count("other")
    now[0] = 1.0
    for _ in range(10):
        limit.count("one")
    with pytest.raises(RefusalError):
        limit.count("one")


def test_two_services_in_one_folder(start, refused_command, tmp_path):
    start(*MODELS, *COLUMNS, "--paper")
    refused_command("no other run or service", "serve", "--save", tmp_path / "kept")
    refused_command("leave the models out", "serve", "linear-regression", *COLUMNS, "--save", tmp_path / "kept")


def test_wrong_commands(refused_command, tmp_path):
    refused_command("--save DIR", "serve", "linear-regression", *COLUMNS)
    refused_command("MODEL", "serve", "--save", tmp_path / "new")
    refused_command("--token-file", "serve", "linear-regression", *COLUMNS, "--host", "0.0.0.0")
    refused_command("waiting_rows", "serve", "linear-regression", "--max-waiting-rows", 10)
    refused_command("run.json", "serve", "--replay", tmp_path)
