"""A service that listens to an MQTT broker: what was acknowledged to the broker is in the log, whoever is killed."""

import json
import os
import random
import time

import numpy as np
import pytest
from served import COLUMNS, MODELS, as_rows

import sgais
from sgais.serve.board.board import SERVICE, Board
from sgais.serve.state import ServiceState
from tests.services.mosquitto import PASSWORD
from tests.services.producers import BATCH, Producer

pytestmark = pytest.mark.services
QUICK = ("--paper", "--set", "num_particles=16", "--chunk-size", "50", "--checkpoint-seconds", "0.3")

CONFLICTING = '{"id": 7, "a": 0, "b": 0, "target": 0}'


@pytest.fixture
def broker(running):
    return running.server("mqtt")


@pytest.fixture
def topic(running):
    return running.new_name()


def numbered(data, start, end):
    return [json.dumps(row | {"id": number}) for number, row in enumerate(as_rows(data, start, end), start)]


def subscribed(start, uri):
    service = start(*MODELS, *COLUMNS, *QUICK, "--history", "memory", "--subscribe", uri)
    wait(lambda: state(service)["subscriptions"][0]["is_connected"], service)
    return service


def state(service):
    return service.get("/state").json


def wait(is_so, service, seconds=60):
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, (state(service), service.said)
        time.sleep(0.05)


def models():
    return {"both": sgais.models.LinearRegression(dim=2), "one": sgais.models.LinearRegression(dim=2, features=(0,))}


def offline(data, count):
    """The same rows at hand, in one go."""
    comparison = sgais.Comparison(models(), sgais.Config.paper(num_particles=16))
    for chunk in sgais.stream({name: values[:count] for name, values in data.items()}, chunk_size=50):
        comparison.update(chunk)
    return comparison


def log_evidences(found):
    return {model["name"]: model["log_evidence"] for model in found["models"]}


def log_evidences_of(comparison):
    return {name: comparison[name].log_evidence for name in models()}


def test_messages_are_rows_also_those_of_a_time_when_the_service_was_away(start, data, broker, topic, tmp_path):
    service = subscribed(start, broker.uri(f"{topic}/#"))
    broker.publish(f"{topic}/a", numbered(data, 0, 120))
    service.wait_for_rows(100)
    service.kill()
    broker.publish(f"{topic}/b", [json.dumps(as_rows(data, 120, 200))])  # a batch
    service = start("--trust")
    found = service.wait_for_rows(200)
    assert log_evidences(found) == log_evidences_of(offline(data, 200))
    service.stop()
    assert PASSWORD not in service.said
    kept = [file for file in (tmp_path / "kept").rglob("*") if file.is_file()]
    assert PASSWORD.encode() not in b"".join(file.read_bytes() for file in kept)


def test_a_key_counts_once_and_what_no_model_takes_is_set_aside(start, data, broker, topic, tmp_path):
    service = subscribed(start, broker.uri(topic, "?key=id"))
    rows = numbered(data, 0, 100)
    broker.publish(topic, [*rows[:60], *rows[20:60], "not JSON", CONFLICTING, *rows[60:]])
    found = service.wait_for_rows(100)
    wait(lambda: state(service)["num_messages_set_aside"] == 2, service)
    assert (found["rows_accepted"], state(service)["num_duplicates"]) == (100, 40)
    assert log_evidences(found) == log_evidences_of(offline(data, 100))
    aside = [json.loads(line) for line in (tmp_path / "kept" / "set-aside.ndjson").read_text().splitlines()]
    assert [entry["body"] for entry in aside] == ["[not JSON]", "[" + CONFLICTING + "]"]
    assert "was used for other rows" in aside[1]["reason"]
    assert "sgais_messages_set_aside_total 2" in service.get("/metrics").body.decode()


def test_messages_wait_in_their_order_where_too_many_rows_do(start, data, broker, topic):
    few = ("--max-batch-rows", "60", "--max-waiting-rows", "60")
    service = start(*MODELS, *COLUMNS, *QUICK, *few, "--history", "memory", "--subscribe", broker.uri(topic))
    wait(lambda: state(service)["subscriptions"][0]["is_connected"], service)
    for first in range(0, 400, 50):  # for a large one there is no room where there is for the small ones behind it
        large, small = json.dumps(as_rows(data, first, first + 40)), numbered(data, first + 40, first + 50)
        broker.publish(topic, [large, *small])
    assert log_evidences(service.wait_for_rows(400)) == log_evidences_of(offline(data, 400))


def test_a_broker_that_goes_is_found_again(start, data, broker, topic):
    service = subscribed(start, broker.uri(topic))
    broker.kill()
    wait(lambda: not state(service)["subscriptions"][0]["is_connected"], service)
    assert f"warning: mqtt://127.0.0.1:{broker.port}/{topic} has gone" in service.said
    broker.start()
    wait(lambda: state(service)["subscriptions"][0]["is_connected"], service)
    broker.publish(topic, numbered(data, 0, 50))
    service.wait_for_rows(50)


def test_a_wrong_password_is_said_and_never_shown(start, broker, topic, monkeypatch):
    monkeypatch.setitem(os.environ, "MQTT_PASSWORD", "wr0ng-password")
    service = start(*MODELS, *COLUMNS, *QUICK, "--subscribe", broker.uri(topic))
    wait(lambda: "lets nobody in (Not authorized). Give the user in the URI" in service.said, service)
    assert "wr0ng" not in service.said + service.get("/state").body.decode()


def test_what_cannot_be_listened_to_is_refused(refused_command, tmp_path):
    save = ("--save", tmp_path / "kept")
    refused_command("must be a URI of mqtt://, mqtts://", "serve", *MODELS, "--subscribe", "nats://host/x", *save)
    refused_command("must name a topic", "serve", *MODELS, "--subscribe", "mqtt://host", *save)
    refused_command("one of json, arrow for MQTT", "serve", *MODELS, "--subscribe", "mqtt://host/x?format=csv", *save)


def writer(broker, topic, data, current):
    """Writes rows until the service has them: the broker itself may forget some at a kill."""

    def write(first, last):
        broker.publish(topic, numbered(data, first, last), seconds=5)
        end = time.monotonic() + 20
        while state(current["service"])["rows_accepted"] < last:
            assert time.monotonic() < end
            time.sleep(0.02)

    return write


def kill_both(start, broker, topic, data, num_rows, kills, seconds):
    service = subscribed(start, broker.uri(topic, "?key=id"))
    generator, current = random.Random(0), {"service": service}
    pause = seconds * kills * BATCH / num_rows
    producer = Producer(writer(broker, topic, data, current), num_rows, pause)
    for _ in range(kills):
        time.sleep(generator.uniform(0, seconds))
        broker.kill()
        time.sleep(generator.uniform(0, 0.5))
        broker.start()
        time.sleep(generator.uniform(0, seconds))
        service.kill()
        service = current["service"] = start("--trust")
    producer.join(900)
    assert not producer.is_alive()
    found = service.wait_for_rows(num_rows)
    assert (found["num_rows"], found["rows_accepted"]) == (num_rows, num_rows)
    assert service.stop() == 143


def check_kills(start, broker, topic, data, folder, **options):
    """Every row is there once; evidence and particles are those of an offline run on them, in their order."""
    num_rows = options["num_rows"]
    kill_both(start, broker, topic, data, **options)
    found = ServiceState.load(folder / "checkpoint", models(), Board(SERVICE, "", list(models()), 50)).comparison
    rows = found._history.between(0, num_rows)
    assert sorted(rows["y"].tolist()) == sorted(data["y"][:num_rows].tolist())
    expected = offline(rows, num_rows)
    assert log_evidences_of(found) == log_evidences_of(expected)
    for name, values in expected["both"].particles.items():
        np.testing.assert_array_equal(found["both"].particles[name], values)


@pytest.mark.slow
def test_two_kills(start, broker, topic, data, tmp_path):
    check_kills(start, broker, topic, data, tmp_path / "kept", num_rows=2_000, kills=2, seconds=1.5)


@pytest.mark.slow
def test_ten_kills(start, broker, topic, tmp_path):
    data = sgais.simulate.linear_regression(50_000, dim=2).data
    check_kills(start, broker, topic, data, tmp_path / "kept", num_rows=50_000, kills=10, seconds=3.0)
