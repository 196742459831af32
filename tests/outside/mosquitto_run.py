"""One test of Mosquitto's own suite, run against Slipring.

    python -m tests.outside.mosquitto_run FOLDER TEST.py

The test is a program that starts `mosquitto` by `mosq_test.start_broker`, and speaks to it in bytes
through sockets of `mosq_test.client_connect_only`. Those two are replaced here; the rest is theirs.
"""

import os
import runpy
import socket
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.outside.brokers import UNDER_TEST, Process, options_of, start_slipring
from tests.outside.canonical import CanonicalSocket


def free_port() -> int:
    """A port for the test to put its broker on; some tests start clients of their own there."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass
class Stand:
    """Slipring in Mosquitto's place, for as many starts as the test makes."""

    port: int
    scratch: Path

    def start(
        self,
        filename: str,
        cmd: list[str] | None = None,
        port: int = 0,
        use_conf: bool = False,
        **about_logs: bool,
    ) -> Process:
        """The replacement for `mosq_test.start_broker`."""
        named = use_conf or (cmd is None and port == 0)
        conf = Path(filename.replace(".py", ".conf")) if named else _conf_of(cmd or [])
        options = options_of(conf) if conf else {}
        kept = self.scratch / "kept" if options.get("persistence") == "true" else None
        return start_slipring(options, self.port, kept)

    def connect(
        self, hostname: str = "localhost", port: int = 0, timeout: float = 10
    ) -> CanonicalSocket:
        """The replacement for `mosq_test.client_connect_only`."""
        return CanonicalSocket(socket.create_connection(("127.0.0.1", self.port), timeout))


def _conf_of(command: list[str]) -> Path | None:
    return Path(command[command.index("-c") + 1]) if "-c" in command else None


def main(folder: Path, test: str) -> None:
    os.chdir(folder / "broker")
    sys.path[:0] = [str(folder / "broker"), str(folder)]
    stand = Stand(free_port(), Path(os.environ["OUTSIDE_SCRATCH"]))
    mosq_test: Any = import_module("mosq_test")
    mosq_test.client_connect_only = stand.connect
    if UNDER_TEST == "slipring":
        mosq_test.start_broker = stand.start
    sys.argv = [test, str(stand.port)]
    runpy.run_path(test, run_name="__main__")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2])
