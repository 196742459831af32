"""Brokers to be found: what they tell, and real ones that share a port nobody else uses."""

import socket
from pathlib import Path
from uuid import uuid4

from slipring.discovery.announcement import Announcement
from slipring.discovery.endpoint import Endpoint
from tests.running_broker import RunningBroker

MQTT = Endpoint("mqtt", "mqtt", None, 1883)
SECURE = Endpoint("secure", "mqtts", "10.0.0.7", 8883)
HERE = Endpoint("here", "mqtt", "127.0.0.1", 1884)
LOCAL = Endpoint("local", "unix", "/run/slipring.sock")
CONSOLE = Endpoint("console", "http", "127.0.0.1", 8080)
TOLD = Announcement(
    uuid4().hex,  # others on this machine may run the same tests
    "ground",
    "0.1.0",
    (MQTT, SECURE, HERE, LOCAL),
    uptime_s=12.5,
    table=7,
    console=CONSOLE,
)


def free_udp_port() -> int:
    """A port that no broker answers on."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start_broker(folder: Path, port: int, *, name: str = "ground", more: str = "") -> RunningBroker:
    """A broker that answers on this UDP port."""
    folder.mkdir()
    config = folder / "broker.toml"
    config.write_text(f"name = '{name}'\n[discovery]\nport = {port}\n{more}")
    return RunningBroker.start(folder / "data", "--config", str(config))
