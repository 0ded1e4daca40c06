"""Somebody writes numbered rows while our process and the server are killed again and again: each row counts once."""

import json
import os
import subprocess
import sys
import time

import numpy as np
import pytest

import sgais
from tests.services import producers
from tests.services.running import require_library, rows_of, variables

pytestmark = pytest.mark.services
CHUNK = 250
# Reads a source from wherever the last life of the process came to, until nothing has come for a while.
LIFE = """
import json, pathlib, sys, sgais
uri, saved, patience = sys.argv[1], pathlib.Path(sys.argv[2]), float(sys.argv[3])
stream = sgais.stream(uri, 250, x=["a", "number"], y="y", follow_seconds=patience)
model = sgais.models.LinearRegression(dim=2)
evidence = sgais.OnlineEvidence.load(saved, model) if saved.exists() else sgais.OnlineEvidence(model)
print(evidence.num_rows, flush=True)
evidence.run(stream, save_to=saved, every_chunks=4, every_seconds=None)
print(json.dumps({"rows": evidence.num_rows, "log_evidence": evidence.log_evidence, "particles":
                  {name: values.tolist() for name, values in evidence.particles.items()}}), flush=True)
"""
URIS = {
    "nats": (producers.nats_writer, lambda server, name: server.uri(name)),
    "redis": (producers.redis_writer, lambda server, name: server.uri(name)),
    "postgresql": (producers.postgresql_writer, lambda server, name: f"{server.uri}?table={name}&key=id"),
    "s3": (producers.s3_writer, lambda server, name: f"s3://bucket/{name}/*.parquet"),
    "kafka": (producers.kafka_writer, lambda server, name: server.uri(name)),
}


def numbered_rows(count):
    generator = np.random.default_rng(5)
    a = generator.normal(size=count)
    number = np.arange(count) / count
    return {"a": a, "number": number, "y": a + generator.normal(size=count)}


def live(uri, saved, patience, errors):
    command = [sys.executable, "-c", LIFE, uri, str(saved), str(patience)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env=dict(os.environ))


def check(kind, running, tmp_path, num_rows, kills, patience):
    require_library(kind)
    server = running.server(kind)
    os.environ.update(variables(kind, server))
    make_writer, uri_of = URIS[kind]
    name, data = running.new_name(), numbered_rows(num_rows)
    uri, saved, generator = uri_of(server, name), tmp_path / "checkpoint", np.random.default_rng(0)
    producer = producers.Producer(
        make_writer(server, name, rows_of(data)), num_rows, pause=CHUNK * kills * 3 / num_rows
    )
    starts = []
    with (tmp_path / "errors.txt").open("w+") as errors:
        for _ in range(kills):
            life = live(uri, saved, patience, errors)
            starts.append(int(life.stdout.readline()))
            time.sleep(generator.uniform(0.2, 1.5))
            server.kill()
            time.sleep(generator.uniform(0, 0.5))
            server.start()
            time.sleep(generator.uniform(0.2, 1.5))
            life.kill()
            life.communicate()
        producer.join(timeout=300)
        assert not producer.is_alive()
        life = live(uri, saved, patience, errors)
        said, _ = life.communicate(timeout=300)
        errors.seek(0)
        assert life.returncode == 0, errors.read()
    starts.append(int(said.splitlines()[0]))
    assert starts == sorted(starts), "no checkpoint was lost"
    return data, uri, json.loads(said.splitlines()[1])


def offline(data):
    """The same rows at hand, in one go."""
    evidence = sgais.OnlineEvidence(sgais.models.LinearRegression(dim=2))
    evidence.run(sgais.stream(data, CHUNK, x=["a", "number"], y="y"))
    particles = {name: values.tolist() for name, values in evidence.particles.items()}
    return {"rows": evidence.num_rows, "log_evidence": evidence.log_evidence, "particles": particles}


def rows_there(uri):
    chunks = list(sgais.stream(uri, a="a", number="number", y="y"))
    return {name: np.concatenate([chunk[name] for chunk in chunks]) for name in chunks[0]}


def check_kind(kind, running, tmp_path, num_rows, kills, patience):
    data, uri, found = check(kind, running, tmp_path, num_rows, kills, patience)
    there = rows_there(uri)
    np.testing.assert_array_equal(np.unique(there["number"]), data["number"], err_msg="the broker itself has lost rows")
    if kind != "kafka":  # whose old protocol may write a batch twice; what counts is what is there
        np.testing.assert_array_equal(there["y"], data["y"])
    assert found == offline(there)


@pytest.mark.parametrize("kind", [pytest.param("nats", marks=pytest.mark.slow), "postgresql"])
def test_two_kills(kind, running, tmp_path):
    check_kind(kind, running, tmp_path, num_rows=10_000, kills=2, patience=6)


@pytest.mark.slow
@pytest.mark.parametrize("kind", URIS)
def test_ten_kills(kind, running, tmp_path):
    check_kind(kind, running, tmp_path, num_rows=50_000, kills=10, patience=15)
