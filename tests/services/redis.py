"""A Redis that has on disk what it has acknowledged."""

from tests.services.process import ServerProcess, program

PASSWORD = "p4ssw0rd-of-redis"


class Redis(ServerProcess):
    def __init__(self, folder):
        self._program = program("redis-server")
        super().__init__(folder)

    def uri(self, stream):
        return f"redis://127.0.0.1:{self.port}/{stream}"

    def command(self):
        options = {"dir": self.folder, "port": self.port, "bind": "127.0.0.1", "save": "", "requirepass": PASSWORD}
        durable = {"appendonly": "yes", "appendfsync": "always"}
        return [
            self._program,
            *(part for name, value in (options | durable).items() for part in (f"--{name}", str(value))),
        ]

    def answers(self):
        import redis

        try:
            with self.client() as client:
                return client.ping()
        except redis.RedisError:
            return False

    def client(self):
        import redis

        return redis.Redis(port=self.port, password=PASSWORD, retry=None)

    def fill(self, stream, rows):
        """A stream with these entries."""
        with self.client() as client, client.pipeline(transaction=False) as pipeline:
            for row in rows:
                pipeline.xadd(stream, row)
            pipeline.execute()
