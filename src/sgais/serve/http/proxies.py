"""Who is at the other end, where a proxy stands between: believed of proxies that are named, and of nobody else."""

import ipaddress
from collections.abc import Sequence

from starlette.requests import Request

from sgais.errors import ConfigError

FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "via")
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class Proxies:
    """The proxies that may say whom they speak for.

    Args:
        addresses: Theirs, or networks such as 10.0.0.0/8.
    """

    def __init__(self, addresses: Sequence[str] = ()) -> None:
        self._networks: list[Network] = []
        for text in addresses:
            try:
                self._networks.append(ipaddress.ip_network(text))
            except ValueError as error:
                raise ConfigError(
                    f"`--trusted-proxy` must be an address or a network, got {text!r}: {error}."
                ) from error

    def client_of(self, request: Request) -> str:
        """The address that a request comes from: the last that a trusted proxy vouches for."""
        address = request.client.host if request.client else ""
        named = ",".join(request.headers.getlist("x-forwarded-for")).split(",")
        for before in reversed(named):
            if not self._trusts(address) or not _is_address(before.strip()):
                break
            address = before.strip()
        return address

    def _trusts(self, address: str) -> bool:
        try:
            found = ipaddress.ip_address(address)
        except ValueError:
            return False
        return any(found in network for network in self._networks)


def came_by_proxy(request: Request) -> bool:
    """Whether a request shows signs of one: its headers, or HTTP/1.0, which clients of today do not speak."""
    return request.scope.get("http_version") == "1.0" or any(name in request.headers for name in FORWARDED)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
