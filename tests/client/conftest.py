"""Brokers for the client's tests: our own, and Mosquitto, because a client meets others too."""

import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.client.table_broker import broker_of_its_own, table_url
from tests.running_broker import RunningBroker

__all__ = ["broker_of_its_own", "table_url"]

CONFIG = """\
listener {port} 127.0.0.1
allow_anonymous true
set_tcp_nodelay true
max_queued_messages 0
"""


@pytest.fixture(scope="session", params=["slipring", "mosquitto"])
def broker_url(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The address of a running broker."""
    folder = tmp_path_factory.mktemp("broker")
    if request.param == "mosquitto":
        yield from run_mosquitto(folder)
        return
    config = folder / "broker.toml"
    config.write_text("[limits]\npacket_bytes = 16777216\n")
    running = RunningBroker.start(folder / "data", "--console", "off", "--config", str(config))
    yield running.url
    code, errors = running.stop()
    assert code == 0, errors


@pytest.fixture(scope="session")
def other_broker_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a broker that knows nothing of frames, and carries them as they are."""
    yield from run_mosquitto(tmp_path_factory.mktemp("other"))


def run_mosquitto(folder: Path) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = int(server.getsockname()[1])
    config = folder / "mosquitto.conf"
    config.write_text(CONFIG.format(port=port))
    program = shutil.which("mosquitto") or "/usr/sbin/mosquitto"
    with subprocess.Popen([program, "-c", config], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if "running" in line:
                break
        yield f"mqtt://127.0.0.1:{port}"
        process.terminate()
