"""A PostgreSQL of its own; as root, it runs as another user, since it refuses to run as root."""

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from tests.services.process import ServerProcess, program, skip_or_fail

USER, PASSWORD = "reader", "s3cr3t-of-postgresql"


class Postgresql(ServerProcess):
    def __init__(self):
        folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
        self._postgres, self._initdb = (program(name, *folders) for name in ("postgres", "initdb"))
        # Not below pytest's folder, which other users may not enter.
        super().__init__(Path(tempfile.mkdtemp(prefix="postgresql-")))
        self._prefix = _as_other_user(self.folder)
        password_file = self.folder / "password"
        password_file.write_text(PASSWORD)
        password_file.chmod(0o644)
        command = [self._initdb, "-D", str(self.folder / "data"), "-U", USER, "-A", "scram-sha-256", "--no-sync"]
        self._run([*command, "-E", "UTF8", f"--pwfile={password_file}"])

    @property
    def uri(self):
        return f"postgresql://{USER}@127.0.0.1:{self.port}/postgres"

    def command(self):
        settings = ["listen_addresses=127.0.0.1", f"unix_socket_directories={self.folder}", "max_connections=20"]
        options = [part for setting in settings for part in ("-c", setting)]
        return [*self._prefix, self._postgres, "-D", str(self.folder / "data"), "-p", str(self.port), *options]

    def answers(self):
        import adbc_driver_manager

        try:
            self.connect().close()
        except adbc_driver_manager.Error:
            return False
        return True

    def connect(self):
        from adbc_driver_postgresql import dbapi

        return dbapi.connect(self.uri.replace("@", f":{PASSWORD}@"), autocommit=True)

    def execute(self, *statements):
        with self.connect() as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)

    def fill(self, table, columns):
        """A table `id, ...` with these columns of numbers."""
        import pyarrow as pa

        names = ", ".join(f"{name} double precision" for name in columns)
        rows = pa.table({"id": pa.array(range(1, len(next(iter(columns.values()))) + 1), pa.int64()), **columns})
        self.execute(f"CREATE TABLE {table} (id bigint PRIMARY KEY, {names})")
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.adbc_ingest(table, rows, mode="append")

    def kill(self):
        super().kill()
        time.sleep(0.05)  # until the processes that it had forked have seen it

    def __exit__(self, *_):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, command):
        subprocess.run([*self._prefix, *command], check=True, stdout=subprocess.DEVNULL)


def _as_other_user(folder):
    if os.getuid() != 0:
        return []
    try:
        user = next(name for name in ("postgres", "nobody") if _exists(name))
    except StopIteration:
        skip_or_fail("PostgreSQL does not run as root, and there is no other user")
    shutil.chown(folder, user)
    entry = pwd.getpwnam(user)
    return ["setpriv", f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}", "--clear-groups"]


def _exists(name):
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True
