import gzip
import json

import numpy as np
import pytest

import sgais
from sgais.errors import ConfigError, DataError
from tests.services.s3 import OPEN_BUCKET, SECRET

pytestmark = pytest.mark.services
ROWS = {"a": np.arange(1000.0), "y": np.arange(1.0, 1001.0)}


@pytest.fixture
def server(running):
    return running.server("s3")


@pytest.fixture
def prefix(server, running):
    """Two days of a thousand rows each, in folders that say which."""
    name = running.new_name()
    for day in (1, 2):
        server.put_table(f"{name}/day={day}/part.parquet", ROWS, row_group_size=300)
    return name


def halfway(uri, **options):
    rows = sgais.stream(uri, 500, y="y", **options)
    for _ in range(3):
        next(rows)
    return rows


def resumed(uri, rows):
    return sgais.stream(uri, 500, y="y").seek(rows.position, rows.bookmark)


def test_a_bookmark_names_the_files_and_the_row_of_the_last(prefix):
    bookmark = halfway(f"s3://bucket/{prefix}").bookmark
    assert [path for path, _, _ in bookmark["files"]] == [f"{prefix}/day={day}/part.parquet" for day in (1, 2)]
    assert bookmark["row"] == 500


def test_stars_stay_in_a_folder_unless_there_are_two(server, prefix):
    server.put(f"{prefix}/day=1/notes.txt", b"no rows")
    for pattern in ("*/*.parquet", "**/*.parquet", "day=*/part*", "**/part.parquet"):
        assert sum(len(chunk["y"]) for chunk in sgais.stream(f"s3://bucket/{prefix}/{pattern}", y="y")) == 2000
    with pytest.raises(DataError, match="must be files that exist, got none"):
        next(sgais.stream(f"s3://bucket/{prefix}/*.parquet", y="y"))
    with pytest.raises(DataError, match=r"must have files whose names end on .csv.* got .*notes.txt"):
        next(sgais.stream(f"s3://bucket/{prefix}", y="y"))


def test_folders_name_columns(server, running, prefix):
    chunks = list(sgais.stream(f"s3://bucket/{prefix}", 1000, x=["a", "day"], y="y"))
    assert [chunk["x"][0, 1] for chunk in chunks] == [1.0, 2.0]
    name = running.new_name()
    for place in ("north", "south"):
        server.put(f"{name}/place={place}/rows.csv", b"y\n1.5\n2.5\n")
    order = {"place": ["south", "north"]}
    (chunk,) = sgais.stream(f"s3://bucket/{name}", x=["y"], y="place", categories=order)
    assert chunk["y"].tolist() == [1, 1, 0, 0]


def test_text_is_read_compressed_or_not(server, running):
    name, text = running.new_name(), "y\n" + "".join(f"{y}\n" for y in ROWS["y"])
    server.put(f"{name}/a.csv", text.encode())
    server.put(f"{name}/b.csv.gz", gzip.compress(text.encode()))
    found = np.concatenate([chunk["y"] for chunk in sgais.stream(f"s3://bucket/{name}/", y="y")])
    np.testing.assert_array_equal(found, np.tile(ROWS["y"], 2))


def test_a_file_that_was_written_anew_is_refused(server, prefix):
    uri = f"s3://bucket/{prefix}"
    rows = halfway(uri)
    server.put_table(f"{prefix}/day=1/part.parquet", ROWS | {"a": -ROWS["a"]}, row_group_size=300)
    with pytest.raises(DataError, match="got .*day=1/part.parquet written anew after it was read"):
        next(resumed(uri, rows))


def test_a_file_that_changes_while_it_is_read_is_refused(server, prefix):
    rows = sgais.stream(f"s3://bucket/{prefix}/day=1/part.parquet", 100, y="y", prefetch=0)
    next(rows)
    (listing, entry) = rows._source._listing, rows._source._listing.files()[0]
    server.put_table(f"{prefix}/day=1/part.parquet", ROWS | {"a": -ROWS["a"]}, row_group_size=300)
    with pytest.raises(DataError, match="must keep its files as they are while they are read"):
        listing.open(entry).read()


def test_the_loss_of_the_file_that_is_being_read_is_refused(server, prefix):
    uri = f"s3://bucket/{prefix}"
    rows = halfway(uri)
    server.delete(f"{prefix}/day=1/part.parquet")
    assert len(next(resumed(uri, rows))["y"]) == 500, "what was read to its end may go"
    server.put_table(f"{prefix}/day=1/part.parquet", ROWS, row_group_size=300)
    server.delete(f"{prefix}/day=2/part.parquet")
    with pytest.raises(DataError, match="got .*day=2/part.parquet deleted, of which 500 rows were read"):
        next(resumed(uri, rows))


def test_a_new_file_must_not_come_before_those_that_were_read(server, prefix):
    uri = f"s3://bucket/{prefix}"
    rows = halfway(uri)
    server.put_table(f"{prefix}/day=1/zzz.parquet", ROWS)
    with pytest.raises(DataError, match="must get new files behind those that were read, got .*zzz.parquet before"):
        next(resumed(uri, rows))


def test_new_files_are_followed(server, prefix):
    rows = sgais.stream(f"s3://bucket/{prefix}", 1000, y="y", follow_seconds=3)
    next(rows), next(rows)
    server.put_table(f"{prefix}/day=3/part.parquet", ROWS, row_group_size=300)
    assert [len(chunk["y"]) for chunk in rows] == [1000]


def test_options_win_over_the_environment_and_are_never_shown(prefix, monkeypatch):
    uri = f"s3://bucket/{prefix}"
    with pytest.raises(DataError, match="must let its reader in") as caught:
        next(sgais.stream(uri, y="y", storage_options={"aws_secret_access_key": "wr0ng-secret"}))
    assert "wr0ng" not in str(caught.value)
    assert SECRET not in str(caught.value)
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    assert len(next(sgais.stream(uri, y="y", storage_options={"aws_secret_access_key": SECRET}))["y"]) == 500


def test_options_belong_to_stores():
    with pytest.raises(ConfigError, match="`storage_options` must come with a URI of an object store"):
        sgais.stream({"y": [1.0]}, storage_options={"aws_region": "x"})


def test_google_s_stores_are_read_by_the_interface_they_share_with_s3(server, running):
    name = running.new_name()
    for part in "ab":
        server.put_table(f"{name}/{part}.parquet", ROWS, bucket=OPEN_BUCKET)
    account = {"gcs_base_url": f"http://127.0.0.1:{server.port}", "disable_oauth": True, "client_email": ""}
    options = {"google_service_account_key": json.dumps(account | {"private_key": "", "private_key_id": ""})}
    uri = f"gs://{OPEN_BUCKET}/{name}/*.parquet"
    rows = sgais.stream(uri, 1500, y="y", storage_options=options)
    next(rows)
    assert [path for path, _, _ in rows.bookmark["files"]] == [f"{name}/a.parquet", f"{name}/b.parquet"]
    again = sgais.stream(uri, 1500, y="y", storage_options=options).seek(rows.position, rows.bookmark)
    np.testing.assert_array_equal(next(again)["y"], ROWS["y"][500:])
