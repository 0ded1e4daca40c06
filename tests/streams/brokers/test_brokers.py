"""What is different from broker to broker: which messages may be missing, and how that is noticed."""

import io
import json
import os

import numpy as np
import pytest

import sgais
from sgais.errors import ConfigError, DataError
from tests.services.running import Running, variables

pytestmark = pytest.mark.services
ROWS = {"y": np.arange(1.0, 1001.0)}
GONE = "must still have the rows behind the checkpoint, got "


@pytest.fixture(params=["nats_json", "redis_entries", "kafka_json", "nats_arrow"])
def uri(request, running):
    uri = getattr(Running, request.param)(running, ROWS)
    return uri, {"format": "arrow"} if "arrow" in request.param else {}


def halfway(uri, **options):
    rows = sgais.stream(uri, 500, y="y", **options)
    next(rows)
    return rows


def resumed(uri, rows, **bookmark):
    return sgais.stream(uri, 500, y="y").seek(rows.position, rows.bookmark | bookmark)


def test_a_bookmark_in_the_midst_of_a_message_holds_what_is_done_of_it(running):
    uri = running.nats_arrow(ROWS)  # 77 rows in each
    rows = halfway(uri, format="arrow")
    assert (rows.bookmark["sequence"], rows.bookmark["rows"]) == (6, {"": 500 - 6 * 77})
    again = sgais.stream(uri, 500, y="y", format="arrow").seek(500, rows.bookmark)
    np.testing.assert_array_equal(next(again)["y"], ROWS["y"][500:])


def test_avro_files_are_messages(running):
    """Of several rows each, compressed or not; columns of the schema, a union with null, a text."""
    fastavro = pytest.importorskip("fastavro")
    fields = [{"name": "y", "type": ["null", "double"]}, {"name": "place", "type": "string"}]
    schema = fastavro.parse_schema({"type": "record", "name": "Row", "fields": fields})
    payloads = []
    for first in range(0, 1000, 70):
        rows = [{"y": y, "place": "north" if y % 2 else "south"} for y in ROWS["y"][first : first + 70].tolist()]
        file = io.BytesIO()
        fastavro.writer(file, schema, rows, codec="deflate" if first % 140 else "null")
        payloads.append(file.getvalue())
    uri = running._filled("nats", [*payloads[:3], b"no Avro", *payloads[3:]])
    options = {"format": "avro", "categories": {"place": ["north", "south"]}, "on_error": "skip"}
    rows = sgais.stream(uri, 333, y="y", place="place", **options)
    first = next(rows)
    again = sgais.stream(uri, 333, y="y", place="place", **options).seek(rows.position, rows.bookmark)
    chunks = [first, *again]
    np.testing.assert_array_equal(np.concatenate([chunk["y"] for chunk in chunks]), ROWS["y"])
    np.testing.assert_array_equal(np.concatenate([chunk["place"] for chunk in chunks]), (ROWS["y"] + 1) % 2)
    assert rows.num_bad_rows + again.num_bad_rows == 1


def test_bad_messages_are_bad_rows(running):
    payloads = [b'{"y": 1.0}', b"not JSON", b"7", b'[{"y": 2.0}, {"y": null}]', b'{"y": 3.0}']
    uri = running._filled("nats", payloads)
    rows = sgais.stream(uri, 10, y="y", on_error="skip")
    assert next(rows)["y"].tolist() == [1.0, 2.0, 3.0]
    assert rows.num_bad_rows == 3
    with pytest.raises(DataError, match="row 1 must be JSON"):
        list(sgais.stream(uri, 10, y="y"))
    rows = sgais.stream(uri, 10, y="y", on_error="skip", format="arrow")
    assert list(rows) == []
    assert rows.num_bad_rows == 5


def test_a_bookmark_of_another_kind_is_refused(running):
    rows = halfway(running.nats_json(ROWS))
    with pytest.raises(DataError, match="must be the source that the checkpoint was written for, got .* nats source"):
        next(resumed(running.redis_entries(ROWS), rows))


def test_a_stream_that_there_is_not_is_refused(running):
    for name in ("nats", "redis", "kafka"):
        uri = running.server(name).uri("nothing-here")
        limited = uri + ("&" if "?" in uri else "?") + "retry_seconds=1"
        with pytest.raises(DataError, match="must be a stream|there is no topic of this name|at least one row"):
            next(sgais.stream(limited, y="y"))


def test_a_format_that_there_is_not_is_refused():
    with pytest.raises(ConfigError, match="`format` must be one of json, arrow, avro for messages, got 'csv'"):
        sgais.stream("nats://127.0.0.1/rows", format="csv")


def test_nats_names_the_messages_that_retention_has_taken(running):
    uri = running.nats_json(ROWS)
    rows, stream = halfway(uri), uri.rpartition("/")[2]
    running.server("nats").run(lambda js: js.purge_stream(stream, keep=500))
    assert len(next(resumed(uri, rows))["y"]) == 500, "what was read before may go"
    running.server("nats").run(lambda js: js.purge_stream(stream, keep=490))
    with pytest.raises(DataError, match=GONE + "none of the messages 501 to 510"):
        next(resumed(uri, rows))
    with pytest.raises(DataError, match=GONE + "a stream made at"):
        next(resumed(uri, rows, created="yesterday"))


def test_redis_counts_the_entries_that_were_trimmed(running):
    uri = running.redis_entries(ROWS)
    rows, stream = halfway(uri), uri.rpartition("/")[2]
    with running.server("redis").client() as client:
        client.xtrim(stream, maxlen=500, approximate=False)
        assert len(next(resumed(uri, rows))["y"]) == 500, "what was read before may go"
        client.xtrim(stream, maxlen=497, approximate=False)
        with pytest.raises(DataError, match=GONE + "3 entries fewer behind"):
            next(resumed(uri, rows))
        client.delete(stream)
        running.server("redis").fill(stream, [{"y": "1.0"}] * 600)
        with pytest.raises(DataError, match=GONE + "a stream without .*, made anew"):
            next(resumed(uri, rows))


def test_redis_names_an_entry_that_was_deleted(running):
    uri = running.redis_entries(ROWS)
    rows, stream = halfway(uri), uri.rpartition("/")[2]
    with running.server("redis").client() as client:
        victim = client.xrange(stream, count=600)[-1][0]
        client.xdel(stream, victim)
    with pytest.raises(DataError, match=GONE + f"no entry {victim.decode()}"):
        next(resumed(uri, rows))


def test_kafka_names_what_a_partition_lacks(running):
    uri = running.kafka_json(ROWS)
    rows = halfway(uri)
    with pytest.raises(DataError, match=GONE + "1000 messages in partition 0, not 5000 or more"):
        next(resumed(uri, rows, offsets={"0": 5000}))
    with pytest.raises(DataError, match=GONE + "no partition 9"):
        next(resumed(uri, rows, offsets={"9": 1}))


def test_kafka_reads_all_partitions(running):
    server, topic = running.server("kafka"), running.new_name()
    server.fill(topic, [json.dumps({"y": y}).encode() for y in ROWS["y"]], num_partitions=2)
    rows = sgais.stream(server.uri(topic), 300, y="y")
    first = next(rows)
    again = sgais.stream(server.uri(topic), 300, y="y").seek(rows.position, rows.bookmark)
    found = np.concatenate([first["y"], *(chunk["y"] for chunk in again)])
    np.testing.assert_array_equal(np.sort(found), ROWS["y"])
    assert again.bookmark["offsets"] == {"0": 500, "1": 500}


@pytest.mark.parametrize("name", ["nats", "redis"])
def test_a_wrong_password_is_never_shown(running, name, monkeypatch):
    server = running.server(name)
    (variable,) = variables(name, server)
    monkeypatch.setitem(os.environ, variable, "wr0ng-password")
    with pytest.raises(DataError, match="must let its reader in") as caught:
        next(sgais.stream(server.uri("rows"), y="y"))
    assert "wr0ng" not in str(caught.value)
