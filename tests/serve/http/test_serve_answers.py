"""What the service takes and what it answers, over real HTTP."""

import io
import json

import numpy as np
import pyarrow as pa
import pytest
from served import JSON, as_rows

import sgais

ARROW, NDJSON = "application/vnd.apache.arrow.stream", "application/x-ndjson"
GOOD = [{"a": 1.0, "b": 2.0, "target": 3.0}]


def arrow(table, **options):
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table)
    return sink.getvalue()


def accepted(service):
    return service.get("/state").json["rows_accepted"]


@pytest.mark.parametrize(
    ("media_type", "body"),
    [
        (JSON, json.dumps(GOOD)),
        (JSON + "; charset=utf-8", json.dumps({"a": [1], "b": [2], "target": [3], "more": ["ignored"]})),
        (NDJSON, '{"a": 1, "b": 2, "target": 3}\n\n{"a": 1, "b": "2", "target": 3, "more": null}\n'),
        (ARROW, arrow(pa.table({"a": [1], "b": [2.5], "target": [3.0]}))),
        (
            ARROW,
            arrow(
                pa.table({"a": [1], "b": [2.5], "target": pa.array(["3"]).dictionary_encode()})
                .select([0, 1])
                .append_column("target", pa.array([3.0]))
            ),
        ),
    ],
)
def test_every_form_is_taken(service, media_type, body):
    before = accepted(service)
    answer = service.ask("POST", "/observations", body, {"Content-Type": media_type})
    assert answer.status == 201, answer
    assert answer.json["first_row"] == before
    assert accepted(service) == before + answer.json["num_rows"]


@pytest.mark.parametrize(
    ("media_type", "body", "row", "column"),
    [
        (JSON, [*GOOD, {"a": 1, "b": "two", "target": 3}], 1, "b"),
        (JSON, [{"a": 1, "b": 2}], 0, "target"),
        (JSON, [*GOOD, *GOOD, {"a": 1, "b": 2, "target": None}], 2, "target"),
        (JSON, [*GOOD, [1, 2, 3]], 1, None),
        (JSON, [{"a": 1e39, "b": 2, "target": 3}], 0, "a"),
        (JSON, [{"a": True, "b": 2, "target": 3}], 0, "a"),
        (JSON, [{"a": [1, 2], "b": 2, "target": 3}], None, None),
        (JSON, {"a": [1], "b": [2], "target": 3}, None, "target"),
        (JSON, {"a": [1, 2], "b": [2, 3], "target": [3]}, None, None),
        (JSON, [], None, None),
        (JSON, 7, None, None),
        (NDJSON, b'{"a": 1, "b": 2, "target": 3}\n{"a": 1, "b": 2, "target": Infinity}\n', 1, None),
        (ARROW, arrow(pa.table({"a": [1.0, None], "b": [1.0, 2.0], "target": [1.0, 2.0]})), 1, "a"),
        (ARROW, arrow(pa.table({"a": [1.0], "b": [1.0]})), None, "target"),
        (ARROW, arrow(pa.table({"a": [True], "b": [1.0], "target": [1.0]})), None, "a"),
    ],
)
def test_a_bad_batch_names_row_and_column(service, media_type, body, row, column):
    before = accepted(service)
    sent = body if isinstance(body, bytes) else json.dumps(body)
    answer = service.ask("POST", "/observations", sent, {"Content-Type": media_type})
    assert answer.status == 422, answer
    error = answer.json["error"]
    assert (error.get("row"), error.get("column")) == (row, column), error
    assert accepted(service) == before, "nothing of the batch was taken in"


def test_a_batch_that_is_sent_again_counts_once(service):
    first = service.post(GOOD, key="once")
    before = accepted(service)
    again = service.post(GOOD, key="once")
    assert (first.status, again.status) == (201, 200)
    assert again.json == first.json | {"is_duplicate": True}
    assert accepted(service) == before
    other = service.post([{"a": 1.0, "b": 2.0, "target": 4.0}], key="once")
    assert other.status == 422
    assert "other rows" in other.json["error"]["message"]
    assert service.post(GOOD, key="twice").json["is_duplicate"] is False


def test_what_is_asked_for(service, data):
    for number in range(4):
        service.post(as_rows(data, 100 * number, 100 * number + 100))
    state = service.wait_for_rows(400)
    assert [model["name"] for model in state["models"]] == ["both", "one"]
    assert sum(model["probability"] for model in state["models"]) == pytest.approx(1)
    assert state["rows_accepted"] - state["rows_waiting"] <= state["num_rows"] + 50

    records = service.get("/records?points=3").json
    assert len(records["num_rows"]) == len(records["models"]["both"]["log_evidence"]) == 3
    some = service.get("/records?from=100&to=250").json["num_rows"]
    assert some == [100, 150, 200, 250]

    metrics = service.get("/metrics")
    assert metrics.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert 'sgais_log_evidence{model="both"} -' in metrics.body.decode()

    predicted = service.post([{"a": 1, "b": 2}, {"a": 0, "b": 0}], path="/predict")
    assert predicted.status == 200, predicted
    assert len(predicted.json["mean"]) == len(predicted.json["quantiles"]["0.5"]) == 2
    assert predicted.json["num_rows_seen"] >= 400
    assert service.post([{"a": "x", "b": 2}], path="/predict").json["error"]["column"] == "a"

    assert service.get("/health").json == {"status": "running", "needs_token": False}
    assert service.get("/openapi.json").json["openapi"].startswith("3.1")


def test_events_bring_state_and_points(service):
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=30)
    connection.request("GET", "/events?from=0")
    answer = connection.getresponse()
    assert answer.getheader("content-type").startswith("text/event-stream")
    lines = [answer.readline() for _ in range(3)]
    assert lines[1] == b"event: news\n"
    news = json.loads(lines[2].removeprefix(b"data: "))
    assert news["state"]["mode"] == "service"
    assert len(news["records"]["num_rows"]) <= 100
    connection.close()


def test_log_z_is_that_of_a_run_over_the_same_rows(start, data):
    """Posted in batches of any size, stopped in the middle and resumed: the bits of a plain run."""
    from served import COLUMNS, MODELS

    arguments = ("--set", "num_particles=32", "--set", "num_islands=4", "--chunk-size", "100", "--seed", "3")
    service = start(*MODELS, *COLUMNS, *arguments)
    generator, place, was_stopped = np.random.default_rng(0), 0, False
    while place < 900:
        size = int(generator.integers(1, 120))
        assert service.post(as_rows(data, place, place + size)).status == 201
        place += size
        if place > 500 and not was_stopped:
            service.wait_for_rows(300)
            assert service.stop() == 143
            service, was_stopped = start(), True  # the settings are in the folder
    state = service.wait_for_rows(place // 100 * 100)

    config = sgais.Config(num_particles=32, num_islands=4)
    models = {
        "both": sgais.models.LinearRegression(dim=2),
        "one": sgais.models.LinearRegression(dim=2, features=(0,)),
    }
    offline = sgais.Comparison(models, config, seed=3, history=sgais.history.Reservoir(100_000))
    # The same numbers that JSON carried; the service rounds them to float32 as the models do.
    for chunk in sgais.stream({name: values[: place // 100 * 100] for name, values in data.items()}, chunk_size=100):
        offline.update(chunk)
    found = {model["name"]: model["log_evidence"] for model in state["models"]}
    assert found == {name: offline[name].log_evidence for name in models}


def test_an_absurd_row_is_not_the_end(start, data):
    """It is left out, also after a restart, and log Z is that of the other rows."""
    from served import COLUMNS, MODELS

    service = start(*MODELS, *COLUMNS, "--paper", "--set", "num_particles=16", "--chunk-size", 50)
    absurd = as_rows(data, 50, 100)
    absurd[7]["target"] = 3e38
    for rows in (as_rows(data, 0, 50), absurd, as_rows(data, 100, 200)):
        assert service.post(rows).status == 201
    found = []
    for again in range(2):
        state = service.wait_for_rows(199)
        assert (state["rows_accepted"], state["rows_set_aside"], state["rows_waiting"]) == (200, 1, 0)
        assert all("the first of them row 57" in model["warning"] for model in state["models"])
        found.append([model["log_evidence"] for model in state["models"]])
        if not again:
            service.stop()
            service = start()
    assert found[0] == found[1]
    assert service.post(as_rows(data, 200, 250)).json["first_row"] == 200
    assert service.wait_for_rows(249)["status"] == "running"


NUMPYRO = """
import numpyro
import numpyro.distributions as dist


def heavier(height, weight):
    slope = numpyro.sample("slope", dist.Normal(0.0, 1.0))
    with numpyro.plate("people", height.shape[0]):
        numpyro.sample("weight", dist.Normal(slope * height, 1.0), obs=weight)
"""


def test_a_model_that_says_what_it_wants_with_the_first_rows(start, tmp_path):
    """The first batch that it can do something with settles the columns, for good."""
    (tmp_path / "people.py").write_text(NUMPYRO)
    service = start(f"{tmp_path / 'people.py'}:heavier", "--paper", "--set", "num_particles=16", "--chunk-size", 4)
    assert service.post([{"height": 1.0, "mass": 2.0}]).status == 422
    good = {"height": 1.7, "weight": 70.0}
    assert service.post([good, good]).status == 201
    missing = service.post([{"height": 1.0}])
    assert (missing.status, missing.json["error"]["column"]) == (422, "weight")
    service.kill()
    service = start("--trust")
    assert service.post([{"height": 1.0, "mass": 2.0}]).json["error"]["column"] == "weight"
    assert service.post([good, good]).json["first_row"] == 2
    assert service.wait_for_rows(4)["models"][0]["log_evidence"] < 0
