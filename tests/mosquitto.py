"""Mosquitto on a port of its own. It cannot choose one, so another may be given it meanwhile."""

import shutil
import socket
import subprocess
from pathlib import Path

PROGRAM = shutil.which("mosquitto") or "/usr/sbin/mosquitto"
ADDRESS_IN_USE = "Address already in use"
CONFIG = """\
listener {port} 127.0.0.1
allow_anonymous true
connection_messages false
max_queued_messages 0
"""


def start_mosquitto(folder: Path, more: str = "") -> tuple[subprocess.Popen[str], int]:
    """Start one with these further lines in its file; the process, and the port it listens on."""
    while True:
        port = _free_port()
        config = folder / "mosquitto.conf"
        config.write_text(CONFIG.format(port=port) + more, encoding="utf-8")
        process = subprocess.Popen([PROGRAM, "-c", config], stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        said = ""
        for line in process.stderr:
            said += line
            if "running" in line:
                return process, port
        process.wait()
        # Somebody else was given the port meanwhile.
        assert ADDRESS_IN_USE in said, f"Mosquitto does not start: {said}"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
