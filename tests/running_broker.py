"""A real broker for tests: `slipring serve` in a process of its own, on free ports."""

import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import pytest

READY = re.compile(
    r"slipring ready mqtt=(?P<host>\S+):(?P<port>\d+) console=(?P<console>\S+)(?P<further>.*)\n"
)
PATIENCE_S = 60
"""How long a test waits for what must come: nothing but a failure waits so long."""


@dataclass
class RunningBroker:
    """A started broker, ready for clients."""

    process: subprocess.Popen[str]
    host: str
    port: int
    console: str
    data: Path
    further: dict[str, str] = field(default_factory=dict)

    @classmethod
    def start(
        cls, data: Path, *arguments: str, environment: Mapping[str, str] | None = None
    ) -> Self:
        """Start one and wait for its ready line."""
        command = [sys.executable, "-m", "slipring", "serve", "--data", str(data)]
        if "--mqtt" not in arguments:
            command += ["--mqtt", "127.0.0.1:0"]
        if "--console" not in arguments:
            command += ["--console", "127.0.0.1:0"]
        process = subprocess.Popen(
            [*command, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        assert process.stdout is not None
        line = process.stdout.readline()
        ready = READY.fullmatch(line)
        if not ready:
            _, errors = process.communicate(timeout=PATIENCE_S)
            raise AssertionError(f"not ready: {line!r} {errors}")
        further = dict(one.split("=", 1) for one in ready["further"].split())
        return cls(process, ready["host"], int(ready["port"]), ready["console"], data, further)

    @property
    def url(self) -> str:
        """Where Slipring's own client connects."""
        return f"mqtt://{self.host}:{self.port}"

    def stop(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """End it; its exit code and what it said on standard error."""
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, errors


@contextmanager
def kept_address() -> Iterator[str]:
    """HOST:PORT for who must be told one, or starts again there: no other socket is given it."""
    with socket.socket() as keeper:
        # With this flag on both, a broker may listen where the keeper is only bound.
        keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        keeper.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{keeper.getsockname()[1]}"


@pytest.fixture
def address() -> Iterator[str]:
    """For a broker that ends and starts again."""
    with kept_address() as kept:
        yield kept


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[RunningBroker]:
    """A broker with a console and a journal of its own, for one test."""
    running = RunningBroker.start(tmp_path / "data")
    yield running
    if running.process.poll() is None:
        code, errors = running.stop()
        assert code == 0, errors


@contextmanager
def broker_in(folder: Path, *arguments: str, config: str = "") -> Iterator[RunningBroker]:
    """A broker for many tests, with its data and its config file in this folder. It must end well,
    without a traceback in its log.
    """
    if config:
        file = folder / "broker.toml"
        file.write_text(config)
        arguments = (*arguments, "--config", str(file))
    running = RunningBroker.start(folder / "data", *arguments)
    try:
        yield running
    finally:
        code, errors = running.stop()
    assert code == 0, errors
    assert "Traceback" not in errors, errors[-3000:]


@pytest.fixture(scope="module")
def shared_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    """A broker that tests of one file share. None of them ends it or counts on what it holds."""
    with broker_in(tmp_path_factory.mktemp("shared")) as running:
        yield running
