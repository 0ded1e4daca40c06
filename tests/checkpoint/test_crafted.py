"""Checkpoints that somebody made to do harm: an error that names the file, in little memory, and nothing else."""

import hashlib
import io
import json
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import sgais
from sgais import checkpoint

NAME = "sgais checkpoint"


def archive(compression=zipfile.ZIP_STORED, **members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as file:
        for name, content in members.items():
            file.writestr(f"{name.removeprefix('_')}.npy", content)
    return buffer.getvalue()


def npy(array):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array)
    return buffer.getvalue()


def tree(value):
    return npy(np.frombuffer(json.dumps(value).encode(), np.uint8))


def said_to_have(shape):
    """An array whose header promises more numbers than there are."""
    return npy(np.zeros(4)).replace(b"(4,)", shape)


BOMB = archive(zipfile.ZIP_DEFLATED, tree=tree({"dict": {}}), _0=npy(np.zeros(50_000_000)))
CRAFTED = {
    "no archive": b"PK nothing",
    "compressed": BOMB,
    "too many numbers": archive(tree=tree({"dict": {}}), _0=said_to_have(b"(99999999999,)")),
    "no tree": archive(_0=npy(np.zeros(3))),
    "no JSON": archive(tree=npy(np.zeros(30, np.uint8))),
    "deep": archive(tree=npy(np.frombuffer(b"[" * 200_000, np.uint8))),
    "no record": archive(tree=tree({"record": "State"})),
    "a list": archive(tree=tree([1, 2])),
    "missing array": archive(tree=tree({"dict": {"state": {"array": 7}}})),
    "wrong parts": archive(tree=tree({"dict": {"fingerprint": 1, "members": 3, "history": {"dict": {}}}})),
}


def write(path, payload):
    header = {"name": NAME, "format": 1, "sha256": hashlib.sha256(payload).hexdigest()}
    path.write_bytes(json.dumps(header).encode() + b"\n" + payload)


@pytest.mark.parametrize("name", list(CRAFTED))
def test_whatever_it_holds_the_error_is_ours(tmp_path, name):
    write(tmp_path / "state", CRAFTED[name])
    model = sgais.models.LinearRegression(dim=2)
    with pytest.raises(sgais.CheckpointError, match="state"):
        sgais.OnlineEvidence.load(tmp_path / "state", model)
    with pytest.raises(sgais.CheckpointError, match="state"):
        sgais.Comparison.load(tmp_path / "state", {"one": model})


def test_little_memory_is_taken(tmp_path):
    """400 MB of zeros in half a megabyte; the process has room for a tenth of that beyond what it holds."""
    write(tmp_path / "state", BOMB)
    script = """
import resource, sys
from sgais import checkpoint
from sgais.errors import CheckpointError
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    checkpoint.read(sys.argv[1], {})
except CheckpointError:
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""
    result = subprocess.run(
        [sys.executable, "-c", script, tmp_path / "state"], capture_output=True, text=True, check=True
    )
    assert float(result.stdout) < 40


def test_bits_that_are_flipped_behind_a_checksum_that_is_right(tmp_path):
    """Whatever is changed in a real one: it is refused, or it loads; never another error."""
    evidence = sgais.OnlineEvidence(sgais.models.LinearRegression(dim=2), sgais.Config.paper(num_particles=4))
    evidence.update({name: values[:50] for name, values in sgais.simulate.linear_regression(50, dim=2).data.items()})
    evidence.save(tmp_path / "good")
    payload = (tmp_path / "good").read_bytes().partition(b"\n")[2]
    generator = np.random.default_rng(0)
    num_refused = 0
    for _ in range(150):
        changed = bytearray(payload)
        changed[generator.integers(len(payload))] ^= 1 << generator.integers(8)
        write(tmp_path / "state", bytes(changed))
        try:
            sgais.OnlineEvidence.load(tmp_path / "state", sgais.models.LinearRegression(dim=2))
        except sgais.SgaisError:
            num_refused += 1
    assert num_refused > 20


def test_a_bad_generation_never_replaces_a_good_one(tmp_path):
    path = tmp_path / "state"
    for number in (1, 2):
        checkpoint.write(path, {"number": number})
    content = bytearray(path.read_bytes())
    content[-30] ^= 1
    path.write_bytes(content)
    checkpoint.write(path, {"number": 3})
    assert checkpoint.read(path, {})["number"] == 3
    assert checkpoint.read(checkpoint.previous(path), {})["number"] == 1
    checkpoint.write(path, {"number": 4})
    assert checkpoint.read(checkpoint.previous(path), {})["number"] == 3
