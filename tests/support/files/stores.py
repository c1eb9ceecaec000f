"""A store with the protocol of S3 on loopback, which records its requests."""

import os
import re
from contextlib import contextmanager
from typing import NamedTuple

KEYS = {"AWS_ACCESS_KEY_ID": "key-for-tests", "AWS_SECRET_ACCESS_KEY": "secret-for-tests"}


class Request(NamedTuple):
    """A request: its method, the path with its query, the bytes that it asks for, and the status of the answer."""

    method: str
    path: str
    n_bytes: int | None
    status: int


class Store:
    """The running store: its address, a pyarrow file system of it, and its requests so far."""

    def __init__(self, address, requests):
        from pyarrow import fs

        self.address = address
        self.requests = requests
        self.filesystem = fs.S3FileSystem(endpoint_override=address, allow_bucket_creation=True)

    def bucket(self, name):
        """Make a bucket; its URI."""
        self.filesystem.create_dir(name)
        return f"s3://{name}"

    def upload(self, folder, uri):
        """Copy a local folder."""
        from pyarrow import fs

        address = uri.removeprefix("s3://")
        fs.copy_files(str(folder), address, destination_filesystem=self.filesystem)
        return uri

    @contextmanager
    def recorded(self):
        """The requests of a block."""
        first = len(self.requests)
        found = []
        yield found
        found += self.requests[first:]


@contextmanager
def run_store():
    """Run moto's server on a free port, with credentials and the address in the environment."""
    from moto.server import ThreadedMotoServer
    from werkzeug.serving import WSGIRequestHandler

    requests = []

    def record(handler, code="-", size="-"):
        span = re.fullmatch(r"bytes=(\d+)-(\d+)", handler.headers.get("Range", ""))
        n_bytes = int(span[2]) - int(span[1]) + 1 if span else None
        requests.append(Request(handler.command, handler.path, n_bytes, int(code)))

    log_request, WSGIRequestHandler.log_request = WSGIRequestHandler.log_request, record
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    address = "http://{}:{}".format(*server.get_host_and_port())
    variables = {
        **KEYS, "AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true", "AWS_ENDPOINT_URL": address,
        "AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }  # fmt: skip
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield Store(address, requests)
    finally:
        server.stop()
        WSGIRequestHandler.log_request = log_request
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
