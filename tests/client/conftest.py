"""A broker for the client's tests, on a port the system chose."""

import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

CONFIG = """\
listener {port} 127.0.0.1
allow_anonymous true
set_tcp_nodelay true
max_queued_messages 0
"""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.fixture(scope="session")
def broker_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running broker."""
    port = free_port()
    config = tmp_path_factory.mktemp("broker") / "mosquitto.conf"
    config.write_text(CONFIG.format(port=port))
    program = shutil.which("mosquitto") or str(Path("/usr/sbin/mosquitto"))
    with subprocess.Popen([program, "-c", config], stderr=subprocess.PIPE, text=True) as broker:
        assert broker.stderr is not None
        for line in broker.stderr:
            if "running" in line:
                break
        yield f"mqtt://127.0.0.1:{port}"
        broker.terminate()
