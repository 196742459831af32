"""Mosquitto for the witness: it keeps its sessions when it is ended, not when it is killed."""

import getpass
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Self

CONFIG = """\
user {user}
listener {port} 127.0.0.1
allow_anonymous true
persistence true
persistence_location {folder}/
max_queued_messages 0
max_inflight_messages 1000
"""


@dataclass
class Mosquitto:
    """A broker that runs."""

    process: subprocess.Popen[str]
    host: str
    port: int

    @classmethod
    def start(cls, folder: Path) -> Self:
        """Start one that goes on with what is in the folder."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        folder.mkdir(exist_ok=True)
        config = folder / "mosquitto.conf"
        config.write_text(
            CONFIG.format(port=port, folder=folder, user=getpass.getuser()), encoding="utf-8"
        )
        process = subprocess.Popen(
            ["mosquitto", "-c", str(config)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        while True:
            assert process.poll() is None, "Mosquitto does not start"
            try:
                socket.create_connection(("127.0.0.1", port), timeout=10).close()
            except ConnectionRefusedError:
                continue
            return cls(process, "127.0.0.1", port)
