"""An MQTT broker that keeps sessions and messages on disk; what it had not written at a kill is its own loss."""

import os
import subprocess

from tests.services.process import ServerProcess, program

USER, PASSWORD = "reader", "p4ssw0rd-of-mqtt"


class Mosquitto(ServerProcess):
    def __init__(self, folder):
        self._program, maker = program("mosquitto"), program("mosquitto_passwd")
        super().__init__(folder)
        passwords = self.folder / "passwords"
        subprocess.run([maker, "-c", "-b", passwords, USER, PASSWORD], check=True, capture_output=True)
        passwords.chmod(0o600)

    def uri(self, topic, options=""):
        return f"mqtt://{USER}@127.0.0.1:{self.port}/{topic}{options}"

    def command(self):
        settings = {
            "listener": f"{self.port} 127.0.0.1",
            "password_file": self.folder / "passwords",
            "persistence": "true",
            "persistence_location": f"{self.folder}/",
            "autosave_interval": 100,
            "autosave_on_changes": "true",
            "max_queued_messages": 0,
        }
        if os.getuid() == 0:
            settings["user"] = "root"
        file = self.folder / "mosquitto.conf"
        file.write_text("".join(f"{name} {value}\n" for name, value in settings.items()))
        return [self._program, "-c", str(file)]

    def publish(self, topic, payloads, seconds=10):
        """Have the broker acknowledge them all, in order."""
        import paho.mqtt.client as mqtt

        client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, protocol=mqtt.MQTTv5)
        client.username_pw_set(USER, PASSWORD)
        client.connect("127.0.0.1", self.port)
        client.loop_start()
        try:
            for sent in [client.publish(topic, payload, qos=1) for payload in payloads]:
                sent.wait_for_publish(seconds)
                assert sent.is_published()
        finally:
            client.disconnect()
            client.loop_stop()
