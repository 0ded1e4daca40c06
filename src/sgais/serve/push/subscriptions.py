"""Which sources a service listens to, from the start of its server to the end."""

import asyncio
import hashlib
import secrets
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from sgais.checkpoint import durable
from sgais.errors import ConfigError
from sgais.serve.push.delivery import Delivery
from sgais.serve.push.mqtt import MqttSubscription, mqtt_address
from sgais.serve.push.set_aside import SetAside
from sgais.serve.service import Service
from sgais.streams.remote.address import Address, scheme_of
from sgais.streams.remote.extras import extra

KINDS = {"mqtt": mqtt_address, "mqtts": mqtt_address}
SESSION, SET_ASIDE = "session", "set-aside.ndjson"  # files of the folder


def addresses_of(uris: Sequence[str]) -> list[Address]:
    """Where they are; refuse what cannot be listened to before anything is begun."""
    for uri in uris:
        if scheme_of(uri) not in KINDS:
            known = ", ".join(f"{name}://" for name in KINDS)
            raise ConfigError(f"`--subscribe` must be a URI of {known}, got {scheme_of(uri)}://. See docs/streams.md.")
        extra("paho.mqtt.client", "mqtt")
    return [KINDS[scheme_of(uri)](uri) for uri in uris]


@contextmanager
def subscribed(
    addresses: Sequence[Address], service: Service, folder: Path, loop: asyncio.AbstractEventLoop, most_bytes: int
) -> Iterator[None]:
    """While the block runs, what the sources send is taken in."""
    with ExitStack() as exits:
        for address in addresses:
            delivery = Delivery(service.intake, loop, SetAside(folder / SET_ASIDE), most_bytes)
            subscription = MqttSubscription(address, _session(folder, address), delivery)
            subscription.start()
            exits.callback(subscription.close)
            service.subscriptions.append(subscription)
        yield


def _session(folder: Path, address: Address) -> str:
    """The same at every start, and no other's: sources know by it what they have to send again."""
    file = folder / SESSION
    if not file.exists():
        durable.replace(file, secrets.token_hex(8).encode())
    own = hashlib.blake2b(address.shown.encode(), digest_size=4).hexdigest()
    return f"sgais-{file.read_text(encoding='ascii').strip()}-{own}"
