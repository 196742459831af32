"""Mosquitto for the witness: it keeps its sessions when it is ended, not when it is killed."""

import getpass
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tests.mosquitto import start_mosquitto

CONFIG = """\
user {user}
persistence true
persistence_location {folder}/
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
        folder.mkdir(exist_ok=True)
        config = CONFIG.format(folder=folder, user=getpass.getuser())
        process, port = start_mosquitto(folder, config)
        return cls(process, "127.0.0.1", port)
