"""Events reach every kind of sink, at least once and in order, whatever fails on the way."""

import contextlib
import json
import sqlite3
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import jsonschema_rs
import numpy as np
import pytest

import sgais
from sgais.emit.emitter import Emitter
from sgais.emit.sinks import sink_of
from sgais.errors import ConfigError

CHUNKS = 4
SCHEMA = jsonschema_rs.validator_for(json.loads(Path("docs/schemas/event.json").read_text()))


@pytest.fixture
def comparison():
    models = {name: sgais.models.LinearRegression(dim=1, noise_scale=scale) for name, scale in (("a", 1.0), ("b", 2.0))}
    return sgais.Comparison(models, sgais.Config(num_particles=64))


@pytest.fixture
def chunks():
    data = sgais.simulate.linear_regression(100 * CHUNKS, dim=1).data
    return list(sgais.stream(data, 100))


@pytest.fixture
def webhook():
    """What an address was told, and how many of the first requests it refuses."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            refuses = self.server.refusals > 0
            self.server.refusals -= refuses
            self.server.bodies += [] if refuses else [body]
            self.send_response(503 if refuses else 200)
            self.end_headers()

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        server.bodies, server.refusals = [], 0
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def url_of(server):
    return f"http://127.0.0.1:{server.server_port}/events"


def emitted(targets, comparison, chunks, state=None):
    emitter = Emitter(targets, comparison, "a title", "", state)
    for chunk in chunks:
        comparison.update(chunk)
        emitter.after_chunk()
    emitter.close()


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def without_time(events):
    return [{name: value for name, value in event.items() if name != "eventTime"} for event in events]


def test_a_file_has_an_event_for_every_chunk(comparison, chunks, tmp_path):
    emitted([str(tmp_path / "events.ndjson")], comparison, chunks)
    events = lines_of(tmp_path / "events.ndjson")
    assert [event["sequence"] for event in events if event["kind"] == "record"] == [1, 2, 3, 4]
    last = events[-1]
    assert last["record"]["num_rows"] == 400
    assert last["record"]["models"]["a"]["log_evidence"] == comparison["a"].log_evidence
    assert {event["run"]["runId"] for event in events} == {last["run"]["runId"]}
    assert last["job"] == {"namespace": "sgais", "name": "a title"}


def test_the_events_of_one_model_are_those_of_the_schema(chunks, tmp_path):
    evidence = sgais.OnlineEvidence(sgais.models.LinearRegression(dim=1), sgais.Config(num_particles=64))
    emitted([str(tmp_path / "events.ndjson")], evidence, chunks[:1])
    (event,) = lines_of(tmp_path / "events.ndjson")
    SCHEMA.validate(event)
    for broken in ({**event, "kind": "alarm"}, {**event, "sequence": 0}, {**event, "run": {}}):
        assert not SCHEMA.is_valid(broken)


def test_a_sink_that_is_away_gets_everything_later(comparison, chunks, webhook):
    webhook.refusals = 2
    with pytest.warns(UserWarning, match=f"results wait for {url_of(webhook)}, .*HTTPError.* sent again"):
        emitted([url_of(webhook)], comparison, chunks)
    assert webhook.bodies == [], "the last try was refused as well"
    emitter = Emitter([url_of(webhook)], comparison, "a title", "", None)
    emitter.close()
    assert [event["sequence"] for body in webhook.bodies for event in body] == [1, 2, 3, 4]


def test_a_run_that_was_killed_sends_the_same_numbers_again(comparison, chunks, tmp_path):
    """The state is that of the second chunk, the checkpoint that of the third: the third is sent once more."""
    target, state = tmp_path / "events.ndjson", tmp_path / "sent.json"
    emitted([str(target)], comparison, chunks[:2], state)
    noted = state.read_text()
    run = json.loads(noted)["run"]
    emitted([str(target)], comparison, chunks[2:3], state)
    state.write_text(noted)
    emitted([str(target)], comparison, chunks[3:], state)
    events = without_time(lines_of(target))
    assert [event["sequence"] for event in events] == [1, 2, 3, 3, 4]
    assert events[2] == events[3], "what is sent twice is the same, and known by its id"
    assert {event["run"]["runId"] for event in events} == {run}


def test_half_a_line_of_a_kill_spoils_no_other(comparison, chunks, tmp_path):
    (tmp_path / "events.ndjson").write_text('{"sequence": 1, "ki')
    emitted([str(tmp_path / "events.ndjson")], comparison, chunks[:1])
    half, whole = (tmp_path / "events.ndjson").read_text().splitlines()
    assert (half, json.loads(whole)["sequence"]) == ('{"sequence": 1, "ki', 1)


def test_alarms_are_events(tmp_path):
    generator = np.random.default_rng(1)
    y = np.concatenate([generator.normal(size=2000), generator.normal(8.0, size=1000)])
    data = {"x": np.zeros((3000, 1)), "y": y}
    models = {"a": sgais.models.LinearRegression(dim=1)}
    comparison = sgais.Comparison(models, sgais.Config(num_particles=64), detector=sgais.ShiftDetector())
    emitted([str(tmp_path / "events.ndjson")], comparison, list(sgais.stream(data, 250)))
    events = lines_of(tmp_path / "events.ndjson")
    alarms = [event for event in events if event["kind"] == "alarm"]
    for event in events:
        SCHEMA.validate(event)
    assert [event["alarm"]["row"] for event in alarms] == [alarm.row for alarm in comparison.detectors["a"].alarms]
    assert alarms[0]["alarm"]["model"] == "a"


def test_a_table_has_each_event_once(comparison, chunks, tmp_path):
    target = f"sqlite://{tmp_path / 'results.db'}?table=events"
    emitted([target], comparison, chunks)
    sink, (event, *_) = sink_of(target), events_of(tmp_path)
    sink.send([event])
    assert [row[0] for row in _rows(tmp_path)] == [1, 2, 3, 4]


def events_of(folder):
    return [json.loads(row[1]) for row in _rows(folder)]


def _rows(folder):
    with contextlib.closing(sqlite3.connect(folder / "results.db")) as connection:
        return connection.execute("SELECT sequence, event FROM events ORDER BY sequence").fetchall()


@pytest.mark.services
@pytest.mark.parametrize("kind", ["redis", "nats", "kafka"])
def test_a_topic_can_be_read_as_a_source(kind, comparison, chunks, running):
    server, name = running.server(kind), running.new_name()
    if kind == "nats":
        server.fill(name, [])
        target = server.uri(f"{name}.events")
    else:
        target = server.uri(name)
    if kind == "kafka":
        server.create(name, server.producer())
    emitted([target], comparison, chunks)
    options = "?field=event" if kind == "redis" else ""
    rows = sgais.stream(server.uri(name) + options, sequence="sequence")
    assert np.sort(next(rows)["sequence"]).tolist() == [1, 2, 3, 4]


@pytest.mark.services
def test_a_table_of_a_server_has_each_event_once(comparison, chunks, running):
    server, table = running.server("postgresql"), running.new_name()
    target = f"{server.uri}?table={table}"
    emitted([target], comparison, chunks)
    rows = sgais.stream(f"{target}&key=sequence", sequence="sequence")
    assert next(rows)["sequence"].tolist() == [1, 2, 3, 4]
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT event FROM {table} ORDER BY sequence LIMIT 1")
        (event,) = cursor.fetchone()
    sink_of(target).send([json.loads(event)])
    assert next(sgais.stream(f"{target}&key=sequence", sequence="sequence"))["sequence"].tolist() == [1, 2, 3, 4]


def test_a_target_that_there_is_not_is_refused():
    with pytest.raises(ConfigError, match=r"`--emit` must be a file or a URI of http://.*, got gopher://"):
        sink_of("gopher://host/x")
    with pytest.raises(ConfigError, match="`--emit` must name a table"):
        sink_of("sqlite://results.db")
    with pytest.raises(ConfigError, match="`--emit` must have no password in an address") as caught:
        sink_of("https://me:s3cret@host/hook")
    assert "s3cret" not in str(caught.value)
