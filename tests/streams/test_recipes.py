"""The recipes of docs/streams.md, as somebody would copy them, against servers of the tests' own.

What starts a server, and what fills it by a tool that the tests do without, is left out.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from tests.services import postgresql, redis

pytestmark = [pytest.mark.services, pytest.mark.slow]
BLOCKS = re.findall(r"```bash\n(.*?)```", (Path(__file__).parents[2] / "docs" / "streams.md").read_text(), re.DOTALL)
ROWS = [b'{"height": 1.7, "weight": 70}']


def of_nats(running):
    server = running.server("nats")
    server.fill("ROWS", ROWS)
    return {"localhost": f"127.0.0.1:{server.port}"}


def of_kafka(running):
    server = running.server("kafka")
    server.fill("rows", ROWS)
    host = server.uri("rows").removeprefix("kafka://")
    return {"localhost/rows": f"'{host}'"}


def of_redis(running):
    port = running.server("redis").port
    return {"localhost": f"127.0.0.1:{port}", "redis-cli": f"redis-cli -p {port} -a {redis.PASSWORD} --no-auth-warning"}


def of_postgresql(running):
    server = running.server("postgresql")
    place = f"-h 127.0.0.1 -p {server.port} -U {postgresql.USER}"
    return {
        "localhost": f"{postgresql.USER}@127.0.0.1:{server.port}",
        "createdb ": f"createdb {place} ",
        "psql ": f"psql {place} ",
    }


def of_s3(running):
    columns = {"height": [1.7, 1.6], "weight": [70.0, 55.0]}
    running.server("s3").put_table("days/year=2024/rows.parquet", columns)
    return {}


# How each is found on the page, the commands that are run, and how many rows there are then.
RECIPES = {
    "nats": ("nats://localhost", of_nats, (), 1),
    "kafka": ("kafka://localhost", of_kafka, (), 1),
    "redis": ("redis://localhost", of_redis, ("redis-cli",), 1),
    "postgresql": ("postgresql://localhost", of_postgresql, ("createdb", "psql"), 2),
    "s3": ("s3://bucket", of_s3, (), 2),
}


@pytest.mark.parametrize("kind", RECIPES)
def test_the_recipe_works(kind, running, tmp_path):
    mark, fill, tools, num_rows = RECIPES[kind]
    if any(shutil.which(tool) is None for tool in tools):
        pytest.skip(f"needs {' and '.join(tools)}")
    block = next(block for block in BLOCKS if mark in block)
    lines = [line for line in block.splitlines() if line.startswith(("sgais", *tools)) and not line.endswith("&")]
    script = "\n".join(lines)
    for said, meant in (fill(running) | {"--follow 60": "--follow 3"}).items():
        assert said in script
        script = script.replace(said, meant)
    whole = f'set -e\nsgais() {{ {sys.executable} -m sgais "$@"; }}\n{script}'
    done = subprocess.run(["bash", "-c", whole], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert pd.read_csv(tmp_path / "people" / "records.csv")["num_rows"].tolist()[-1] == num_rows
