"""Who may ask: a token where one is set, names of this machine where none is, no page of another site."""

import hmac
import ipaddress
import re
from urllib.parse import urlsplit

from starlette.requests import Request

from sgais.errors import ConfigError
from sgais.serve.http.proxies import came_by_proxy
from sgais.serve.refusal import RefusalError

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
SHORTEST_TOKEN = 16
LOCAL_NAMES = {"localhost", "127.0.0.1", "::1"}


class Guard:
    """Lets requests pass or not.

    Args:
        host: The address that the service is bound to.
        token: What clients have to send as `Authorization: Bearer ...`; may be left out on this machine only.
    """

    def __init__(self, host: str, token: str | None) -> None:
        if token is None and not is_loopback(host):
            raise ConfigError(
                f"`--host` must be an address of this machine only, such as 127.0.0.1, where no token is set, got "
                f"{host!r}. Put a secret into a file: --token-file FILE."
            )
        if token is not None and (len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable()):
            raise ConfigError(f"the token must be at least {SHORTEST_TOKEN} ASCII characters long.")
        self._token = token

    @property
    def needs_token(self) -> bool:
        """Whether a token is asked for."""
        return self._token is not None

    def check_site(self, request: Request) -> None:
        """Refuse what another site's page sends, and names that another site has given to this machine."""
        host = _host_name(request.headers.get("host", ""))
        # Somebody who knows the token may come by any name; otherwise a site could point its own name here.
        if self._token is None and host not in LOCAL_NAMES:
            raise RefusalError(421, "Host must be localhost, 127.0.0.1 or ::1.")
        # A proxy may have written that name itself, for somebody who sits anywhere.
        if self._token is None and came_by_proxy(request):
            raise RefusalError(421, "behind a proxy a token is needed: start the service with --token-file FILE.")
        origin = request.headers.get("origin")
        if origin is not None and urlsplit(origin).netloc.lower() != request.headers.get("host", "").lower():
            raise RefusalError(403, "pages of other sites may not use this service.")
        if request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            raise RefusalError(403, "pages of other sites may not use this service.")

    def check_token(self, request: Request) -> None:
        """Refuse who does not know the token."""
        if self._token is None:
            return
        sent = request.headers.get("authorization", "")
        if not hmac.compare_digest(sent.encode(), f"Bearer {self._token}".encode()):
            raise RefusalError(401, "the token is missing or wrong.")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _host_name(host: str) -> str:
    """Without the port; empty if it is not the name of a host."""
    found = re.fullmatch(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9.-]+))(?::\d{1,5})?", host.lower())
    return "" if found is None else found[1] or found[2]
