"""The broker that an outside suite is run against: Slipring, in the place of the suite's own.

`OUTSIDE_BROKER=mosquitto` runs Mosquitto instead, to tell a fault of ours from one of the suite or
of this harness.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

READY = re.compile(rb"slipring ready mqtt=\S+:(?P<port>\d+) ")
UNDER_TEST = os.environ.get("OUTSIDE_BROKER", "slipring")

LIMITS = {
    "max_connections": "connections",
    "max_keepalive": "keep_alive_s",
    "max_packet_size": "packet_bytes",
    "max_inflight_messages": "inflight",
}
"""Options of Mosquitto that Slipring has too, under `[limits]`."""

ROOMY = {
    "connect_bytes": 1 << 20,
    "session_expiry_s": 0xFFFF_FFFF,
    "topic_bytes": 65_535,
    "topic_levels": 128,
    "user_properties": 10_000,
}
"""Limits that are tighter in Slipring than in Mosquitto, opened as far as they go."""

SAME_ANYWAY = frozenset(
    {"port", "listener", "allow_anonymous", "persistence", "persistence_file", "sys_interval"}
)
"""Options that ask for what Slipring does by itself, or that say where files are."""


class Process(subprocess.Popen[bytes]):
    """A broker as a test knows it. Ended at once: how it ends by itself is tested elsewhere."""

    is_durable = False

    def terminate(self) -> None:
        if self.is_durable:
            super().terminate()
        else:
            self.kill()

    def wait(self, timeout: float | None = None) -> int:
        self.returncode = 0 if super().wait(timeout) == -signal.SIGKILL else self.returncode
        return self.returncode


class CannotBeAsked(Exception):
    """The suite asks for an option that Slipring does not have."""


def options_of(conf: Path) -> dict[str, str]:
    """The options in a configuration file of Mosquitto."""
    lines = [line.strip() for line in conf.read_text(encoding="utf-8").splitlines()]
    pairs = [line.partition(" ") for line in lines if line and not line.startswith("#")]
    return {name: value for name, _, value in pairs}


def translated(options: dict[str, str]) -> str:
    """The same wishes in Slipring's configuration."""
    limits = dict(ROOMY)
    for name, value in options.items():
        if name in LIMITS:
            limits[LIMITS[name]] = int(value)
        elif name not in SAME_ANYWAY:
            raise CannotBeAsked(name)
    return "[limits]\n" + "".join(f"{name} = {value}\n" for name, value in limits.items())


def start_slipring(options: dict[str, str], kept: Path | None = None) -> tuple[Process, int]:
    """A broker and its port. Without a folder to go on with, it starts from nothing."""
    folder = Path(tempfile.mkdtemp(dir=os.environ.get("OUTSIDE_SCRATCH")))
    config = folder / "slipring.toml"
    config.write_text(translated(options), encoding="utf-8")
    command = [sys.executable, "-m", "slipring", "serve", "--config", str(config)]
    command += ["--mqtt", "127.0.0.1:0", "--data", str(kept or folder / "data"), "--console", "off"]
    process = Process(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.is_durable = kept is not None
    assert process.stdout is not None
    line = process.stdout.readline()
    ready = READY.match(line)
    if ready is None:
        _, errors = process.communicate(timeout=60)
        raise AssertionError(f"not ready: {line!r} {errors!r}")
    return process, int(ready["port"])
