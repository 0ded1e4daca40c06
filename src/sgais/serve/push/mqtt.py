"""MQTT 5: `mqtt://host:1883/topic/#` (or mqtts://), at least once, acknowledged by hand behind the sync.

The broker keeps the session of a service that is away, and sends again what was not acknowledged. A message that has a
key (`?key=COLUMN`, or the user property `Idempotency-Key`) counts once, however often it comes.
"""

import json
import queue
import threading
import warnings
from typing import Any, NamedTuple

from sgais.errors import ConfigError, require
from sgais.serve.intake.bodies import ARROW, JSON
from sgais.serve.push.delivery import Delivery, Message
from sgais.streams.remote.address import Address
from sgais.streams.remote.extras import extra

PASSWORD = "MQTT_PASSWORD"
PORT, PORT_WITH_TLS = 1883, 8883
OPTIONS = ("key", "format", "session_seconds")
FORMATS = {"json": JSON, "arrow": ARROW}
KEY_PROPERTY = "Idempotency-Key"
SESSION_SECONDS = 7 * 24 * 3600  # that the broker keeps messages for a service that is away
MOST_UNACKNOWLEDGED = 1000  # messages that the broker sends ahead
SHORTEST_DELAY, LONGEST_DELAY = 1, 30  # seconds from one attempt to connect to the next
LOOK_SECONDS = 0.2  # at whether the service ends


class Arrived(NamedTuple):
    """A message, and the connection on which it may be acknowledged."""

    message: Any
    connection: int


class MqttSubscription:
    """Takes a topic into a service until it is closed.

    Args:
        address: Of the topic.
        session: By which the broker knows the service again.
        delivery: Takes the messages.
    """

    def __init__(self, address: Address, session: str, delivery: Delivery) -> None:
        self.name = address.shown
        self.is_connected = False
        self._mqtt = extra("paho.mqtt.client", "mqtt")
        self._address, self._delivery = address, delivery
        self._key_column = address.options.get("key")
        self._media_type = FORMATS[address.options.get("format", "json")]
        self._arrived: queue.SimpleQueue[Arrived] = queue.SimpleQueue()
        self._connection = 0
        self._has_complained = False
        self._is_closed = threading.Event()
        self._client = self._new_client(session)
        self._thread = threading.Thread(target=self._run, name="sgais-mqtt", daemon=True)

    def start(self) -> None:
        """Connect, now or when the broker is there."""
        host, port = self._address.servers(PORT_WITH_TLS if self._address.scheme == "mqtts" else PORT)[0]
        packet = extra("paho.mqtt.properties", "mqtt")
        properties = packet.Properties(packet.PacketTypes.CONNECT)
        properties.SessionExpiryInterval = int(self._address.options.get("session_seconds", SESSION_SECONDS))
        properties.ReceiveMaximum = MOST_UNACKNOWLEDGED
        self._client.connect_async(host, port, clean_start=False, properties=properties)
        self._client.loop_start()
        self._thread.start()

    def close(self) -> None:
        """End; what was not acknowledged stays with the broker."""
        self._is_closed.set()
        self._delivery.close()
        self._thread.join()
        self._client.disconnect()
        self._client.loop_stop()

    def _new_client(self, session: str) -> Any:
        mqtt = self._mqtt
        client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, session, protocol=mqtt.MQTTv5, manual_ack=True)
        client.reconnect_delay_set(SHORTEST_DELAY, LONGEST_DELAY)
        if self._address.user or self._address.password:
            client.username_pw_set(self._address.user, self._address.password or None)
        if self._address.scheme == "mqtts":
            client.tls_set()
        client.on_connect, client.on_connect_fail = self._on_connect, self._on_connect_fail
        client.on_disconnect, client.on_subscribe = self._on_disconnect, self._on_subscribe
        client.on_message = self._on_message
        return client

    def _on_connect(self, client: Any, _: Any, flags: Any, reason: Any, __: Any) -> None:
        if reason.is_failure:
            self._complain(f"lets nobody in ({reason}). Give the user in the URI and the password in {PASSWORD}")
            return
        self._connection += 1
        if flags.session_present:  # what still waits here comes again
            self._arrived = queue.SimpleQueue()
        options = self._mqtt.SubscribeOptions(qos=1, retainHandling=self._mqtt.SubscribeOptions.RETAIN_DO_NOT_SEND)
        client.subscribe(self._address.path, options=options)

    def _on_subscribe(self, _: Any, __: Any, ___: Any, reasons: Any, ____: Any) -> None:
        if reasons[0].is_failure:
            self._complain(f"does not give the topic away ({reasons[0]})")
            return
        if reasons[0].value == 0:
            warnings.warn(f"{self.name} promises nothing (QoS 0): messages may be lost.", stacklevel=2)
        self.is_connected, self._has_complained = True, False

    def _on_connect_fail(self, _: Any, __: Any) -> None:
        self._complain("does not answer")

    def _on_disconnect(self, _: Any, __: Any, ___: Any, reason: Any, ____: Any) -> None:
        if not self._is_closed.is_set():
            self._complain(f"has gone ({reason})")

    def _on_message(self, _: Any, __: Any, message: Any) -> None:
        self._arrived.put(Arrived(message, self._connection))

    def _complain(self, what: str) -> None:
        """Once for each time that it is away."""
        self.is_connected = False
        if not self._has_complained:
            self._has_complained = True
            warnings.warn(f"{self.name} {what}; it is tried again.", stacklevel=2)

    def _run(self) -> None:
        while not self._is_closed.is_set():
            arrived = self._next_messages()
            if arrived and self._delivery.deliver([self._message(each.message) for each in arrived]):
                for message, connection in arrived:
                    if connection == self._connection:  # on another one, this number is that of another message
                        self._client.ack(message.mid, message.qos)

    def _next_messages(self) -> list[Arrived]:
        """All that have come."""
        found: list[Arrived] = []
        try:
            found.append(self._arrived.get(timeout=LOOK_SECONDS))
            while len(found) < MOST_UNACKNOWLEDGED:
                found.append(self._arrived.get_nowait())
        except queue.Empty:
            pass
        return found

    def _message(self, message: Any) -> Message:
        body, own = bytes(message.payload), self._key_of(message)
        if self._media_type == JSON and not body.lstrip().startswith(b"["):  # one row, where batches are posted
            body = b"[" + body + b"]"
        key = None if own is None else f"{message.topic} {own}"
        return Message(f"{self.name}, topic {message.topic}", self._media_type, body, key)

    def _key_of(self, message: Any) -> str | None:
        properties = dict(getattr(message.properties, "UserProperty", []))
        if KEY_PROPERTY in properties:
            return str(properties[KEY_PROPERTY])
        if self._key_column is None:
            return None
        try:
            content = json.loads(message.payload)
            rows = content if isinstance(content, list) else [content]
            return json.dumps([row[self._key_column] for row in rows])
        except (ValueError, KeyError, TypeError, RecursionError):
            return None  # if it is a row at all, it has no key


def mqtt_address(uri: str) -> Address:
    """The topic that a URI means."""
    address = Address.of(uri, PASSWORD, OPTIONS)
    format_name, seconds = address.options.get("format", "json"), address.options.get("session_seconds", "0")
    require(format_name in FORMATS, "format", f"be one of {', '.join(FORMATS)} for MQTT", format_name)
    require(seconds.isdigit() and int(seconds) < 2**32, "session_seconds", "be a whole number of seconds", seconds)
    if not address.path:
        raise ConfigError(f"`--subscribe` must name a topic, got {address.shown}. Write mqtt://host/topic/#.")
    return address
