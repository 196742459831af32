"""Mosquitto, ready, on a port of its own."""

import shutil
import subprocess
from pathlib import Path

from tests.running_broker import kept_address

PROGRAM = shutil.which("mosquitto") or "/usr/sbin/mosquitto"
CONFIG = """\
listener {port} 127.0.0.1
allow_anonymous true
connection_messages false
max_queued_messages 0
"""


def start_mosquitto(folder: Path, more: str = "") -> tuple[subprocess.Popen[str], int]:
    """Start one with these further lines in its file; the process, and the port it listens on."""
    with kept_address() as address:
        port = int(address.rpartition(":")[2])
        config = folder / "mosquitto.conf"
        config.write_text(CONFIG.format(port=port) + more, encoding="utf-8")
        process = subprocess.Popen([PROGRAM, "-c", config], stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        said = ""
        while "running" not in said:
            line = process.stderr.readline()
            assert line, f"Mosquitto does not start: {said}"
            said += line
        return process, port
