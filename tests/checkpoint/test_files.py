"""Real files, really damaged."""

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from sgais import checkpoint
from sgais.errors import CheckpointError


class Inner(NamedTuple):
    values: np.ndarray
    name: str


@dataclass(frozen=True)
class Outer:
    parts: tuple[Inner, ...]
    nothing: None = None


TYPES = {"Inner": Inner, "Outer": Outer}
CONTENT = {
    "outer": Outer((Inner(np.arange(5.0), "a"), Inner(np.zeros((2, 0), np.int32), "b"))),
    "numbers": [1, 2.5, 2**100, -0.1, float("inf")],
    "flag": True,
}


def assert_same(found, number=1):
    assert found["numbers"] == [number, *CONTENT["numbers"][1:]]
    assert found["flag"] is True
    assert [part.name for part in found["outer"].parts] == ["a", "b"]
    for part, expected in zip(found["outer"].parts, CONTENT["outer"].parts, strict=True):
        np.testing.assert_array_equal(part.values, expected.values)
        assert part.values.dtype == expected.values.dtype


def numbered(number):
    return CONTENT | {"numbers": [number, *CONTENT["numbers"][1:]]}


def test_what_is_written_is_read(tmp_path):
    checkpoint.write(tmp_path / "state", CONTENT)
    assert_same(checkpoint.read(tmp_path / "state", TYPES))
    assert [path.name for path in tmp_path.iterdir()] == ["state"]


def test_two_generations_are_kept(tmp_path):
    for number in (1, 2, 3):
        checkpoint.write(tmp_path / "state", numbered(number))
    assert_same(checkpoint.read(tmp_path / "state", TYPES), 3)
    assert_same(checkpoint.read(checkpoint.previous(tmp_path / "state"), TYPES), 2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["state", "state.previous"]


def cut_off(path):
    path.write_bytes(path.read_bytes()[:-20])


def flip_a_bit(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


def flip_a_bit_of_the_header(path):
    content = bytearray(path.read_bytes())
    content[5] ^= 4
    path.write_bytes(content)


def empty(path):
    path.write_bytes(b"")


@pytest.mark.parametrize("damage", [cut_off, flip_a_bit, flip_a_bit_of_the_header, empty])
def test_a_damaged_file_is_replaced_by_its_previous_generation(tmp_path, damage):
    checkpoint.write(tmp_path / "state", numbered(1))
    damage(tmp_path / "state")
    with pytest.raises(CheckpointError, match="state is damaged"):
        checkpoint.read(tmp_path / "state", TYPES)
    checkpoint.write(tmp_path / "state", numbered(2))
    checkpoint.write(tmp_path / "state", numbered(3))
    damage(tmp_path / "state")
    with pytest.warns(UserWarning, match="state is damaged.* Using the previous generation, .*state.previous"):
        assert_same(checkpoint.read(tmp_path / "state", TYPES), 2)


def test_a_newer_format_is_not_guessed_at(tmp_path):
    checkpoint.write(tmp_path / "state", CONTENT)
    checkpoint.write(tmp_path / "state", CONTENT)
    header, _, payload = (tmp_path / "state").read_bytes().partition(b"\n")
    newer = json.dumps(json.loads(header) | {"format": 2}).encode()
    (tmp_path / "state").write_bytes(newer + b"\n" + payload)
    refusal = "has format 2, and this version of sgais reads up to 1. Update sgais"
    with pytest.raises(CheckpointError, match=refusal):
        checkpoint.read(tmp_path / "state", TYPES)
    offer = f"{refusal}. The previous generation is .*state.previous"
    with pytest.raises(CheckpointError, match=offer), checkpoint.offering_previous(tmp_path / "state"):
        checkpoint.read(tmp_path / "state", TYPES)


def test_records_of_another_version_are_refused(tmp_path):
    checkpoint.write(tmp_path / "state", CONTENT)
    with pytest.raises(CheckpointError, match="holds a Inner, which this version of sgais does not know"):
        checkpoint.read(tmp_path / "state", {"Outer": Outer})
    with pytest.raises(CheckpointError, match="the checkpoint's Inner is not the one of this version"):
        checkpoint.read(tmp_path / "state", TYPES | {"Inner": NamedTuple("Inner", [("other", int)])})


def test_places_that_cannot_be_written_to(tmp_path):
    with pytest.raises(CheckpointError, match="No such file or directory. Make room or choose another folder"):
        checkpoint.write(tmp_path / "nowhere" / "state", CONTENT)
    with pytest.raises(CheckpointError, match="which does not exist"):
        checkpoint.read(tmp_path / "state", TYPES)


def test_nothing_in_a_file_is_run(tmp_path):
    """Arrays of objects would have to be unpickled."""
    with pytest.raises(ValueError, match="Object arrays cannot be saved"):
        checkpoint.write(tmp_path / "state", {"code": np.array([print], object)})


def test_a_full_disk_leaves_the_last_checkpoint_alone(small_disk):
    checkpoint.write(small_disk / "state", CONTENT)
    with pytest.raises(CheckpointError, match="No space left on device. Make room"):
        checkpoint.write(small_disk / "state", {"much": np.random.default_rng(0).random(400_000)})
    assert_same(checkpoint.read(small_disk / "state", TYPES))
    assert [path.name for path in small_disk.iterdir()] == ["state"]


WRITER = """
import sys, numpy as np
from sgais import checkpoint
number = 0
while True:
    number += 1
    checkpoint.write(sys.argv[1], {"number": number, "many": np.full(100_000, number)})
    print(number, flush=True)
"""


def test_a_writer_that_is_killed_leaves_a_whole_checkpoint(tmp_path):
    generator = np.random.default_rng(0)
    for _ in range(5):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, tmp_path / "state"], stdout=subprocess.PIPE)
        reported = int(writer.stdout.readline())
        try:
            writer.wait(timeout=generator.uniform(0, 0.1))
        except subprocess.TimeoutExpired:
            writer.kill()
        reported = max([reported, *map(int, writer.stdout.read().split())])
        writer.wait()
        writer.stdout.close()
        found = checkpoint.read(tmp_path / "state", {})
        assert found["number"] >= reported, "what was reported as written is there"
        np.testing.assert_array_equal(found["many"], found["number"])
        assert (tmp_path / "state.previous").exists() or found["number"] == 1
