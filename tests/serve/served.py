"""The real service in a real process, and a client for it."""

import http.client
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

JSON = "application/json"
MODELS = ("both=linear-regression", "one=linear-regression:features=0")
COLUMNS = ("-c", "x=a,b", "-c", "y=target")
COMPARE = ("--set", "num_particles=32", "--set", "num_islands=4", "--chunk-size", "100")
START_SECONDS = 120


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Served:
    """A process of `sgais serve`, or of another command that shows a page."""

    def __init__(
        self, folder: Path, *arguments: object, command: str = "serve", port: int = 0, most_files: int | None = None
    ) -> None:
        ports = ["--port", str(port)] if command == "serve" else []
        whole = [sys.executable, "-m", "sgais", command, *map(str, arguments), *ports]
        self.errors = Path(f"{folder}-{time.monotonic_ns()}.stderr")
        if most_files is not None:  # as many as a process may have open, and no more
            whole = ["bash", "-c", f'ulimit -n {most_files}; exec "$@"', "bash", *whole]
        with self.errors.open("w") as stderr:
            self.process = subprocess.Popen(whole, stderr=stderr, stdout=subprocess.DEVNULL)
        self.port = self._wait_for_port()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _wait_for_port(self) -> int:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            for line in self.errors.read_text().splitlines():
                if " at http://" in line and line.split(" at http://")[1].split("/")[0].count(":"):
                    return int(line.split(" at http://")[1].split("/")[0].rpartition(":")[2])
            assert self.process.poll() is None, self.errors.read_text()
            time.sleep(0.05)
        raise AssertionError("the service did not start")

    def ask(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, headers=headers)

    def post(self, rows: Any, key: str | None = None, path: str = "/observations", **headers: str) -> Answer:
        keyed = {} if key is None else {"Idempotency-Key": key}
        return self.ask("POST", path, json.dumps(rows), {"Content-Type": JSON, **keyed, **headers})

    def wait_for_rows(self, count: int, seconds: float = 180) -> dict[str, Any]:
        """Until so many rows have been taken in."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            state = self.get("/state").json
            if state["num_rows"] >= count:
                return state
            assert self.process.poll() is None, self.errors.read_text()
            time.sleep(0.05)
        raise AssertionError(f"only {state['num_rows']} rows: {state}")

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(timeout=60)

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    @property
    def said(self) -> str:
        return self.errors.read_text()


def as_rows(data: dict[str, Any], start: int, end: int) -> list[dict[str, float]]:
    """Rows of simulated data as they are posted."""
    pairs = zip(data["x"][start:end].tolist(), data["y"][start:end].tolist(), strict=True)
    return [{"a": x[0], "b": x[1], "target": y} for x, y in pairs]
