"""A secret that a run is told is in nothing that the run leaves or says."""

import json
import os
import subprocess
import sys
from urllib.parse import quote

import numpy as np
import pytest

from tests.services.nats import TOKEN
from tests.services.postgresql import PASSWORD as POSTGRESQL
from tests.services.postgresql import USER
from tests.services.redis import PASSWORD as REDIS
from tests.services.running import Running
from tests.services.s3 import SECRET as S3

pytestmark = [pytest.mark.services, pytest.mark.slow]
GENERATOR = np.random.default_rng(0)
DATA = {"a": GENERATOR.normal(size=1000), "y": GENERATOR.normal(size=1000)}
EMITTED = "t0ken-of-a-webhook"
# source, and how its URI has a secret in it (those of S3 are in the environment only)
SOURCES = {
    "nats": (Running.nats_json, "nats://", f"nats://{TOKEN}@", TOKEN),
    "redis": (Running.redis_entries, "redis://", f"redis://:{REDIS}@", REDIS),
    "postgresql": (Running.postgresql_table, f"//{USER}@", f"//{USER}:{POSTGRESQL}@", POSTGRESQL),
    "s3": (Running.s3_parquet, "s3://", "s3://", S3),
}
WRONG = "wr0ng/secret"
IN_THE_URI = {"NATS_PASSWORD": "", "REDIS_PASSWORD": "", "PGPASSWORD": "", "SGAIS_EMIT_TOKEN": EMITTED}
OF_A_STORE = {"AWS_SECRET_ACCESS_KEY": WRONG}


def everything_said(folder, *arguments, **variables):
    command = [sys.executable, "-W", "always", "-m", "sgais", *map(str, arguments)]
    done = subprocess.run(command, env=os.environ | variables, capture_output=True, timeout=300)
    files = [file.read_bytes() for file in folder.rglob("*") if file.is_file()]
    return done.returncode, b"".join([done.stdout, done.stderr, *files])


def assert_not_in(secret, said):
    assert secret.encode() not in said
    assert quote(secret, safe="").encode() not in said


@pytest.mark.parametrize("kind", SOURCES)
def test_a_secret_is_nowhere(kind, running, tmp_path):
    """Read with it in the URI, sent on with it, resumed; and refused with another one."""
    make, mark, with_secret, secret = SOURCES[kind]
    plain = make(running, DATA)
    uri = plain.replace(mark, with_secret)
    assert kind == "s3" or secret in uri
    folder = tmp_path / "run"
    target = {"redis": uri + "-results", "postgresql": uri.partition("?")[0] + "?table=results"}.get(kind)
    emits = ["--emit", "http://127.0.0.1:1/hook", *(["--emit", target] if target else [])]
    columns = ("-c", "x=a", "-c", "y=y")
    code, said = everything_said(
        folder, "run", "linear-regression", uri, *columns, "--save", folder, *emits, **IN_THE_URI
    )
    assert code == 0, said[-2000:]
    assert b"results wait for http://127.0.0.1:1/hook" in said
    assert json.loads((folder / "run.json").read_text())["source"] == plain
    assert_not_in(secret, said)
    assert_not_in(EMITTED, said)
    code, said = everything_said(folder, "resume", folder, "--trust", **IN_THE_URI)
    assert_not_in(secret, said)
    assert_not_in(EMITTED, said)
    wrong = plain.replace(mark, with_secret.replace(secret, quote(WRONG, safe="")))
    limited = wrong + ("&" if "?" in wrong else "?") + "retry_seconds=1"
    refused = tmp_path / "refused"
    code, said = everything_said(
        refused, "run", "linear-regression", limited, *columns, "--save", refused, **IN_THE_URI | OF_A_STORE
    )
    assert code == 1, said[-2000:]
    assert_not_in(WRONG, said)
