"""Schemathesis makes up requests from the OpenAPI document: no answer may be a 5xx, or another than documented."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from served import as_rows

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


def fuzz(service, folder, examples, seed):
    command = [
        Path(sys.executable).parent / "schemathesis",
        *("run", f"{service.url}/openapi.json", "--checks", CHECKS, "--max-examples", str(examples)),
        *("--exclude-path", "/events", "--seed", str(seed), "--no-color", "--suppress-health-check", "all"),
        *("--request-timeout", "60"),  # a busy machine is no error of the service
    ]
    result = subprocess.run(command, capture_output=True, text=True, timeout=900, cwd=folder)
    assert result.returncode == 0, result.stdout[-6000:] + result.stderr[-2000:]
    state = service.get("/state")
    assert state.status == 200
    assert state.json["status"] == "running", state.json
    assert "Traceback" not in service.said, service.said
    metrics = service.get("/metrics").body.decode()
    assert 'status="5' not in metrics, metrics


def test_made_up_requests(service, data, tmp_path):
    service.post(as_rows(data, 0, 100))
    service.wait_for_rows(100)
    fuzz(service, tmp_path, examples=15, seed=1)
    assert service.post(as_rows(data, 100, 200)).status == 201, "it works as before"


@pytest.mark.slow
def test_many_made_up_requests(service, data, tmp_path):
    service.post(as_rows(data, 0, 100))
    service.wait_for_rows(100)
    fuzz(service, tmp_path, examples=500, seed=2)
    document = json.loads(service.get("/openapi.json").body)
    assert set(document["paths"]) >= {
        "/state",
        "/records",
        "/events",
        "/observations",
        "/predict",
        "/metrics",
        "/health",
    }
