"""One test of Mosquitto's own suite, run against Slipring.

    python -m tests.outside.mosquitto_run FOLDER TEST.py

The test is a program that starts `mosquitto` by `mosq_test.start_broker` and compares packets by
`mosq_test.expect_packet`. Both are replaced here, as are its sockets and the programs that some
tests start to help them; the rest is theirs.
"""

import os
import runpy
import socket
import subprocess
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.outside.brokers import UNDER_TEST, Process, options_of, start_slipring
from tests.outside.canonical import PacketSocket
from tests.outside.unhurried import IN_SECONDS, tell_longer, wait_longer

PORT = "OUTSIDE_PORT"
"""How a program beside the test learns where the broker is."""


def free_port() -> int:
    """A port for Mosquitto, which has to be told one."""
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
        process, self.port = start_slipring(options, kept)
        os.environ[PORT] = str(self.port)
        return process

    def sockets(self) -> type[PacketSocket]:
        """Sockets that find the broker, whatever port the test believes it to have."""
        stand = self

        class FoundSocket(PacketSocket):
            def connect(self, _address: object) -> None:
                super().connect(("127.0.0.1", stand.port))

        return FoundSocket


def _conf_of(command: list[str]) -> Path | None:
    return Path(command[command.index("-c") + 1]) if "-c" in command else None


class Expectation:
    """The replacement for `mosq_test.expect_packet`."""

    def __init__(self, failure: type[Exception]) -> None:
        self.failure = failure

    def __call__(self, sock: PacketSocket, name: str, expected: bytes) -> bool:
        instead = sock.hears(expected)
        if instead is not None:
            sys.stderr.write(f"{name}: expected {expected.hex(' ')}, got {instead.hex(' ')}\n")
            raise self.failure
        return True


class SameHands(subprocess.Popen[bytes]):
    """A program beside the test, which speaks to the broker as the test does."""

    def __init__(self, command: list[str], **options: Any) -> None:
        program = Path(command[0])
        if program.suffix == ".py":
            folder = str(program.resolve().parents[1])
            module = [sys.executable, "-m", "tests.outside.mosquitto_run", folder]
            command = [*module, program.name]
        super().__init__(command, **options)


def main(folder: Path, test: str) -> None:
    os.chdir(folder / "broker")
    sys.path[:0] = [str(folder / "broker"), str(folder)]
    found = os.environ.get(PORT)
    stand = Stand(int(found) if found else free_port(), Path(os.environ["OUTSIDE_SCRATCH"]))
    mosq_test: Any = import_module("mosq_test")
    mosq_test.expect_packet = Expectation(mosq_test.TestError)
    if UNDER_TEST == "slipring":
        mosq_test.start_broker = stand.start
    if test in IN_SECONDS:
        wait_longer()
        tell_longer(import_module("mqtt5_props"))
    vars(subprocess).update(Popen=SameHands)
    vars(socket).update(socket=stand.sockets())
    sys.argv = [test, str(stand.port)]
    runpy.run_path(test, run_name="__main__")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2])
