"""Where a source is: `scheme://user:password@host:port/path?option=value`, of which no secret is ever shown."""

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, unquote, urlsplit

from sgais.errors import ConfigError

HIDDEN = "***"
NAMES_ARE_NO_SECRETS = ("kafka", "mqtt", "mqtts", "postgresql", "postgres", "redis", "rediss", "abfs", "abfss")


@dataclass(frozen=True)
class Address:
    """A URI, taken apart.

    Attributes:
        scheme: The kind of source.
        host: With its port if that was given, or several of them, separated by commas.
        path: Without the slash in front.
        user: Empty if none was given.
        password: That of the URI, or else of the environment; never printed, not even by `repr`.
        options: What stands behind the question mark.
    """

    scheme: str
    host: str
    path: str
    user: str = ""
    password: str = field(default="", repr=False)
    options: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, uri: str, password_variable: str, options: Collection[str] = ()) -> "Address":
        """Take a URI apart.

        Args:
            uri: The URI.
            password_variable: Of the environment, for a URI without a password.
            options: Those that this kind of source has; others are refused.
        """
        scheme, user, password, host, path, query = _parts(uri)
        given = {name: unquote(value) for name, _, value in (part.partition("=") for part in query.split("&")) if name}
        for name in given:
            if name not in options:
                known = ", ".join(sorted(options)) or "none"
                where = f" A password belongs into the environment, {password_variable}." if password_variable else ""
                raise ConfigError(
                    f"`source` must have options that {scheme}:// has, got {name!r} and not one of {known}.{where}"
                )
        return cls(scheme, host, path, user, password or os.environ.get(password_variable, ""), given)

    @property
    def shown(self) -> str:
        """The URI without user and password."""
        query = "&".join(f"{name}={value}" for name, value in self.options.items())
        place = f"{self.host}/{self.path}" if self.path else self.host
        return f"{self.scheme}://{place}" + (f"?{query}" if query else "")

    def servers(self, default_port: int) -> list[tuple[str, int]]:
        """Host and port of each server."""
        return [_host_and_port(server, default_port) for server in self.host.split(",")]

    def hide(self, text: object) -> str:
        """A message of somebody else without the secrets that it may repeat."""
        hidden = str(text)
        for secret in {self.password, quote(self.password, safe="")} - {""}:
            hidden = hidden.replace(secret, HIDDEN)
        return hidden


def scheme_of(text: str) -> str:
    """The scheme of a URI; empty for a path."""
    scheme, mark, _ = text.partition("://")
    return scheme.lower() if mark and scheme.replace("+", "").isalnum() else ""


def without_password(uri: str) -> str:
    """The URI as it may be kept and shown: who reads it again takes the password from the environment.

    A name alone is a token at some brokers, so that it goes too; a user name with a password stays.
    """
    if not scheme_of(uri):
        return uri
    split = urlsplit(uri, allow_fragments=False)
    login, at, host = split.netloc.rpartition("@")
    name, colon, _ = login.partition(":")
    keeps_name = name and (colon or scheme_of(uri) in NAMES_ARE_NO_SECRETS)
    return split._replace(netloc=f"{name}@{host}" if keeps_name else host).geturl() if at else uri


def _parts(uri: str) -> tuple[str, str, str, str, str, str]:
    split = urlsplit(uri, allow_fragments=False)  # `#` is a part of topics
    user, at, host = split.netloc.rpartition("@")
    name, _, password = user.partition(":") if at else ("", "", "")
    return scheme_of(uri), unquote(name), unquote(password), host, unquote(split.path.removeprefix("/")), split.query


def _host_and_port(server: str, default_port: int) -> tuple[str, int]:
    host, colon, port = server.rpartition(":")
    if colon and port.isdigit():
        return host, int(port)
    return server, default_port
