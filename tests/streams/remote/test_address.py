import pytest

from sgais.errors import ConfigError
from sgais.streams.remote.address import Address, without_password


def test_a_uri_is_taken_apart():
    address = Address.of("kafka://me:s%3Acret@one:1,two/a%20topic?a=1%262&b=x+y", "NONE", ["a", "b"])
    assert (address.scheme, address.user, address.password) == ("kafka", "me", "s:cret")
    assert (address.host, address.path, address.options) == ("one:1,two", "a topic", {"a": "1&2", "b": "x+y"})
    assert address.servers(9092) == [("one", 1), ("two", 9092)]


def test_a_password_comes_from_the_environment_where_the_uri_has_none(monkeypatch):
    monkeypatch.setenv("SOME_PASSWORD", "from outside")
    assert Address.of("nats://host/s", "SOME_PASSWORD").password == "from outside"
    assert Address.of("nats://u:own@host/s", "SOME_PASSWORD").password == "own"


def test_no_secret_is_shown():
    address = Address.of("postgresql://me:se%2Fcret@host/db?table=t", "NONE", ["table"])
    assert address.shown == "postgresql://host/db?table=t"
    assert "cret" not in repr(address)
    assert address.hide("cannot log in with se/cret, that is se%2Fcret") == "cannot log in with ***, that is ***"


@pytest.mark.parametrize(
    ("uri", "kept"),
    [
        ("postgresql://me:secret@host/db?table=t", "postgresql://me@host/db?table=t"),
        ("postgresql://me@host/db", "postgresql://me@host/db"),
        ("nats://token@host/s", "nats://host/s"),
        ("mqtt://me:secret@host/a/#?key=id", "mqtt://me@host/a/#?key=id"),
        ("abfss://container@account.dfs.core.windows.net/x", "abfss://container@account.dfs.core.windows.net/x"),
        ("redis://:secret@host/s", "redis://host/s"),
        ("s3://bucket/*.csv", "s3://bucket/*.csv"),
        ("rows.csv", "rows.csv"),
    ],
)
def test_what_is_kept_of_a_uri_has_no_password(uri, kept):
    assert without_password(uri) == kept


def test_a_topic_may_have_the_sign_of_a_fragment():
    address = Address.of("mqtt://host/a/+/#?key=id", "NONE", ["key"])
    assert (address.path, address.options, address.shown) == ("a/+/#", {"key": "id"}, "mqtt://host/a/+/#?key=id")


def test_options_that_there_are_not_are_refused():
    with pytest.raises(ConfigError, match="got 'password' and not one of table. A password belongs into the .* PGPASS"):
        Address.of("postgresql://host/db?password=x", "PGPASS", ["table"])
