"""Stores that no test has a server for: what a URI and the environment make of them, without a network."""

import pytest

import sgais
from sgais.errors import ConfigError

pytest.importorskip("obstore")


def store_of(uri, **options):
    return sgais.stream(uri, y="y", **options)._source._listing._store


@pytest.mark.parametrize("scheme", ["az", "azure"])
def test_azure_takes_the_account_from_the_environment(scheme, monkeypatch):
    """Without one, the store cannot be opened: see below."""
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "someone")
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", "c2VjcmV0")
    assert store_of(f"{scheme}://days/2024/*.parquet").config["container_name"] == "days"


def test_azure_s_own_uris_name_container_and_account():
    uri = "abfss://days@someone.dfs.core.windows.net/2024/*.parquet"
    config = store_of(uri).config
    assert (config["container_name"], config["account_name"]) == ("days", "someone")


def test_azure_without_an_account_says_how_to_name_it(monkeypatch):
    monkeypatch.delenv("AZURE_STORAGE_ACCOUNT_NAME", raising=False)
    with pytest.raises(ConfigError, match="Account must be specified. .*AZURE_STORAGE_ACCOUNT_NAME"):
        store_of("az://days/*.parquet")
    options = {"azure_storage_account_name": "someone", "azure_storage_sas_key": "sv=1&sig=s3cret"}
    assert store_of("az://days/*.parquet", storage_options=options).config["account_name"] == "someone"


def test_google_s_bucket_and_account(tmp_path, monkeypatch):
    assert store_of("gs://days/2024/*.parquet").config["bucket"] == "days"
    monkeypatch.setenv("GOOGLE_SERVICE_ACCOUNT", str(tmp_path / "missing.json"))
    with pytest.raises(ConfigError, match="`source` must be a store that can be opened, got gs://days"):
        store_of("gs://days/*.parquet")
